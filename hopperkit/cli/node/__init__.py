"""Commands on nodes: machines, launch lines, the machine that they run on."""
