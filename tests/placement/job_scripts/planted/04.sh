#!/bin/bash
#SBATCH --constraint=haswell
#SBATCH --qos=debug
#SBATCH --nodes=1
#SBATCH --time=10
srun -n 32 -c 8 --cpu-bind=cores ./solver
