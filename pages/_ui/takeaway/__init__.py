"""What is on the screen as code and as files."""
