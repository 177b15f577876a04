"""Components of a simulated scheduler: the events, the queues by kind of node, and the free nodes."""
