"""What is on the screen as a program in plain PyTorch."""
