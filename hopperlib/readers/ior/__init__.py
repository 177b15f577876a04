"""What IOR prints, from 2.10.3 to 4.x: text, JSON and CSV, whole or torn.

=========  ==================================================================
words      numbers, sizes, command lines and error messages as IOR writes them
runs       what was asked and what came out, gathered; then as rows
text       the tables for people
data       JSON, valid or not, and CSV
reader     finds out which it is: `read_ior`
=========  ==================================================================
"""
