"""What IOR prints, from 2.10.3 to 4.x: text, JSON and CSV, whole or torn.

=========  ==================================================================
tokens     numbers, sizes, command lines and error messages as IOR writes them
reader     finds out what a file holds: `read_ior`
=========  ==================================================================
"""
