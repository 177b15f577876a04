"""The second method of diagnosis: ranks every line of an output by its features, without using the rules."""
