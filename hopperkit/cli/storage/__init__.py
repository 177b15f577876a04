"""Commands on file systems: what was measured, layouts, buffers."""
