"""Commands for nodes: machines, launch lines, and the local cluster."""
