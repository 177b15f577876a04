"""Studies of the network and the scheduler."""
