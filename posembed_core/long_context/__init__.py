"""What a rotary encoding does to each pair of dimensions at lengths beyond the trained one."""
