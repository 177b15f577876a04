"""Known problems of modules, flags and link lines."""
