"""What a placement costs, what is wrong with it or with the whole script, and a better line, tried."""
