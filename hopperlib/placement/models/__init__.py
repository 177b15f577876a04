"""Models of a node: bandwidth, memory, threads, pages, free cores."""
