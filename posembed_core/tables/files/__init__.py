"""Position tables from files that others wrote."""
