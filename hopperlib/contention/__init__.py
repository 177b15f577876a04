"""Contention: throughput of many users of a shared resource.

=========================  ===================================================
saturation                 throughput of many users of one server, link or file
ceilings                   measured ceilings with their spread over systems
extrapolation              throughput of more users than were measured
=========================  ===================================================
"""
