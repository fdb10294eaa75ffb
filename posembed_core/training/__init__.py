"""Tables that are trained while one watches."""
