#!/bin/bash
#SBATCH -C cpu -q debug
#SBATCH -N 4
#SBATCH -t 1:00:00
srun -n 512 -c 2 --cpu-bind=cores ./solver
