"""What a script asks of the batch system."""
