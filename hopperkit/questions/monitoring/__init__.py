"""Questions about monitoring a machine."""
