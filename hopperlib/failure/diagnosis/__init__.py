"""From the messages of a scan to a verdict: which message is the cause."""
