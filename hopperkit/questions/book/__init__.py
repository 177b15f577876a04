"""Questions about the book's own tables."""
