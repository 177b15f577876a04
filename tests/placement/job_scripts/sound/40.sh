#!/bin/bash
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=128
#SBATCH --cpus-per-task=1
#SBATCH --partition=standard
#SBATCH --qos=taskfarm
#SBATCH --time=24:00:00
export OMP_NUM_THREADS=1
srun --distribution=block:block --hint=nomultithread ./solver
