"""Launch lines and the scripts around them, read into what they ask for."""
