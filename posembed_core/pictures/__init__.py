"""A matrix of any size as what a picture shows of it."""
