"""Commands for failures: job outputs, builds, and nodes before a run."""
