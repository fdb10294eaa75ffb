"""One recipe for each encoding, found by its slug (with ``_`` for ``-``)."""
