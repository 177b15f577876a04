"""What the logs of I/O say is wrong."""
