"""A result for a person or a program: text, JSON, HTML, widgets."""
