"""Tables of position vectors: what they are, how they are read, stretched and measured."""
