#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=128
#SBATCH --cpus-per-task=1
#SBATCH --partition=standard
#SBATCH --qos=normal
#SBATCH --time=01:00:00
srun --distribution=block:block --hint=nomultithread ./solver
