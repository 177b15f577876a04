"""Changes of a machine and of its rules: what they would do to the waits of a log, and what they did at a date."""
