"""Additional material for an instructor and a class: sheets with answers, handouts, and the test of the workshop."""
