#!/bin/bash
#SBATCH -C gpu -q regular
#SBATCH -N 2 -t 1:00:00
srun -n 8 -c 32 --cpu-bind=cores ./solver
