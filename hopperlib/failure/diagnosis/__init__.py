"""Verdict from the messages of a scan: which message is the cause."""
