"""The pages of the app; each answers one question."""
