"""Shell text as words and statements, and launch lines inside other text."""
