"""A placement judged: what is wrong, what it costs, and which line is better."""
