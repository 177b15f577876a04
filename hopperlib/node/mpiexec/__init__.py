"""mpiexec and mpirun: lines of PALS, Open MPI, MPICH and Intel MPI read into one model of mapping and binding."""
