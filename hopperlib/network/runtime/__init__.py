"""Run time of a communicating job: link loads, neighbors, overlap."""
