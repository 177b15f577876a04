"""Studies of what went wrong."""
