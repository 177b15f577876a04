"""Advice on file layouts and file systems: stripes, hints, small files, measured rates of sites."""
