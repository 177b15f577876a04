"""The rules of a site, learned from its job log: closed hours, limits, absent nodes, the order of the queue, who passes whom."""
