"""Storage: from one node's writes to a whole file system's.

=========================  ===================================================
lustre.striping            which OST holds which byte of a file, exactly
lustre.osts                how much lands on each OST, when the last is done
lustre.imbalance           how full the fullest OST gets, without drawing
lustre.client              what one node, or a few, can write
lustre.node_rates          rates of tasks on a node, of nodes together, of aggregators
lustre.rates               how long a job's writes take, and what limits them
lustre.default_layout      what new files get, and a better layout in its form
lustre.measured            ranges of rates and costs, fitted to runs
lustre.now                 whether a measured time is what the file system gives
lustre.stripe_advice       which stripe count and size suit, with the commands
lustre.dumps               a dump to one file: barriers, slow OSTs, closing
other_file_systems         what to set where nothing is striped
hints                      hints for MPI-IO in the words of the MPI
chunks                     what HDF5 reads for a shape of chunks
small_files                what many small files cost, and other ways
node_lines                 lines that run once on each node, by launcher
loading                    how long a job takes to load libraries or modules
iobuf                      what buffering the calls of a task buys
logs.darshan_log           a Darshan log as records
logs.darshan_findings      what such a log says is wrong
logs.darshan_summary       such a log in numbers
logs.ost_rates             what each OST gave, and whether one is slow
=========================  ===================================================
"""
