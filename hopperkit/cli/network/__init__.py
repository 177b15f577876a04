"""Commands on the network and the scheduler: nodes in their places, orders, traces."""
