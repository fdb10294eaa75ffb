"""What pages are made of: controls, figures, caches and live components."""
