"""Questions about the node."""
