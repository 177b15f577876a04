"""Findings from a Darshan log, by subject, each with its cost."""
