"""The checks of a whole job script, by subject."""
