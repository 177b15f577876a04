"""The second voice of the diagnosis: ranks every line of an output by numbers read from it, without knowing the rules."""
