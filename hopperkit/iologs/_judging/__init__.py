"""Judgments of a Darshan log, by subject: each yields findings with what they cost."""
