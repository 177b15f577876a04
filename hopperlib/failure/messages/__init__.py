"""Messages as data: rules, and the scan that finds them in any text."""
