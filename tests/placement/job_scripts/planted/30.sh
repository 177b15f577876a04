#!/bin/bash
#SBATCH --partition=normal -C mc
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=128
#SBATCH --mem-per-cpu=4G
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
srun ./solver
