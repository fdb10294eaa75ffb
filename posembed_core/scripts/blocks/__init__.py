"""What the scripts of all encodings share: tokens, the families, what is printed."""
