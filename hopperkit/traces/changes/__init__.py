"""Changes of a machine and its rules: their predicted effect on the waits of a log, and their observed effect at a
date.
"""
