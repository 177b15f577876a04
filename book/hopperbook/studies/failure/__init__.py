"""Studies of failures."""
