"""What a rotary encoding does to each pair of channels at lengths beyond the trained one."""
