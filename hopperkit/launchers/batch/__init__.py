"""Requests of a script to the batch system."""
