"""Commands for file systems: measurements, layouts, buffers."""
