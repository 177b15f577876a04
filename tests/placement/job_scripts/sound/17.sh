#!/bin/bash
#SBATCH --qos=regular
#SBATCH --time=2:00:00
#SBATCH --nodes=2
#SBATCH --constraint=cpu
#SBATCH --account=m0000
srun -n 256 -c 2 --cpu-bind=cores ./solver
