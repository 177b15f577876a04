"""Cost of a placement, problems with it or the whole script, and a tested better line."""
