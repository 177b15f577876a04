"""Questions about what went wrong."""
