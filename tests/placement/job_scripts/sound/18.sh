#!/bin/bash
#SBATCH --qos=debug
#SBATCH --time=30
#SBATCH --nodes=8
#SBATCH --constraint=cpu
#SBATCH --account=m0000
srun -n 1024 -c 2 --cpu-bind=cores ./solver
