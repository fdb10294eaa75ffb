"""A model's config, read for what it says about position."""
