"""Cray's iobuf: its setting, and what buffering buys."""
