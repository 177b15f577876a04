"""A center's site, whose tool pages are about its machine.

=========  ========================================================================
own        the machine file and the files next to it; front page and first route
questions  the questions of its tool pages, made for its machine
pages      its tool pages, without what the book does with samples
glance     its machine in tables
=========  ========================================================================
"""
