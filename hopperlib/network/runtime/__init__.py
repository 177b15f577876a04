"""How long a communicating job runs: link loads, neighbors, overlap."""
