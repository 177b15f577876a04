"""The batch scheduler: workload, queues, free nodes, and the event loop."""
