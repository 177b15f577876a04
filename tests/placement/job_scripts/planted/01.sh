#!/bin/bash
#SBATCH -C cpu
#SBATCH -q regluar
#SBATCH -N 2 -t 2:00:00
srun -n 256 -c 2 --cpu-bind=cores ./solver
