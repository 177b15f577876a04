"""Studies of storage."""
