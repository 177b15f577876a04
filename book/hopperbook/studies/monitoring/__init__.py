"""Studies of watching a machine."""
