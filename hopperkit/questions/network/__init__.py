"""Questions about the network and the scheduler."""
