"""What a job log says of its own scheduler: its rules, how well they predict, and what a change would do."""
