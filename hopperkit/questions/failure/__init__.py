"""Questions about failures."""
