"""Lustre: striping, OSTs and rates."""
