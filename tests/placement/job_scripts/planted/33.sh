#!/bin/bash
#SBATCH -C cpu -q regular
#SBATCH -N 1 -t 1:00:00
mpirun -np 128 ./solver
