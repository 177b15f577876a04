"""Questions on watching a machine."""
