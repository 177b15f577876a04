"""How MPI launchers map, number and bind the ranks of a node, step by step as each of them does."""
