"""Checks every shape and type that the core's signatures promise, in every test."""

from jaxtyping import install_import_hook

# Before anything imports the core, else what is imported already stays unchecked.
install_import_hook("posembed_core", "beartype.beartype")
