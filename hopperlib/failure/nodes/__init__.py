"""Bad nodes: the risk, and the check before a run."""
