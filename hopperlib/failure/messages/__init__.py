"""Messages as data: the rules, and the scan that finds them in a text."""
