"""Advice on file layouts and file systems: stripes, hints, small files, and rates measured at sites."""
