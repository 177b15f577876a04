#!/bin/bash
#SBATCH -C cpu -q regular
#SBATCH -N 1 -t 1:00:00
#SBATCH --mem=600G
srun -n 128 -c 2 --cpu-bind=cores ./solver
