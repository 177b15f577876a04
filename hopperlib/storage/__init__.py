"""Storage: from one node's writes to a whole file system's.

=============  =======================================================
striping       which OST holds which byte of a file, exactly
osts           how much lands on each OST, and when the last one is done
imbalance      how full the fullest OST gets, without drawing
client         what one node, or a few, can write
iobuf          what buffering the calls of a task buys
iobuf_params   ``IOBUF_PARAMS`` read, checked and written
lustre         how long a job's writes take, and what limits them
stripe_advice  which stripe count and size suit, with the commands
dumps          a dump of several variables to one file, with its barriers
scaling        what barriers, other jobs and closing a file take
=============  =======================================================
"""
