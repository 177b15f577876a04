"""Questions about any file."""
