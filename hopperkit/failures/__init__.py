"""Failures from a center's view: many outputs at once, suspicious nodes, preflight checks, and facts in addition to the
output.
"""
