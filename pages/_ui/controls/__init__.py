"""Controls whose values stand in the address."""
