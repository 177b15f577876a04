"""aprun, Cray's launcher: its options, and how it fills a node."""
