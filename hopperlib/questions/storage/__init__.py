"""Questions about storage."""
