"""What a simulated scheduler is made of: the events, the queues by kind of node, and the free nodes."""
