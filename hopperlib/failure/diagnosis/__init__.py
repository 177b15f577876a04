"""From what a scan found to a verdict: which message is the cause."""
