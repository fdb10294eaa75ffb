"""What can be measured of any table of vectors."""
