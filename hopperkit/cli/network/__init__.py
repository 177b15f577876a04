"""Commands for the network and the scheduler: node positions, rank orders, traces."""
