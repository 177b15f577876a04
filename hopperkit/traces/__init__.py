"""A job log's scheduler: its rules, how well they predict waits, and the effect of changes."""
