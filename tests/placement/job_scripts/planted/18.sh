#!/bin/bash
#SBATCH --nodes=512
#SBATCH --ntasks-per-node=128
#SBATCH --cpus-per-task=1
#SBATCH --partition=standard
#SBATCH --qos=largescale
#SBATCH --time=10:00:00
srun --distribution=block:block --hint=nomultithread ./solver
