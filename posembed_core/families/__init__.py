"""The four families of encodings, one for each way in which position enters attention."""
