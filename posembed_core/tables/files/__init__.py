"""Position tables in files that others wrote."""
