#!/bin/bash
#SBATCH --qos=preempt
#SBATCH --time=24:00:00
#SBATCH --nodes=128
#SBATCH --constraint=cpu
#SBATCH --account=m0000
srun -n 16384 -c 2 --cpu-bind=cores ./solver
