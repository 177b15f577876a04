"""Studies of the node."""
