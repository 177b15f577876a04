#!/bin/bash
#SBATCH --partition=small
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=128
#SBATCH --time=1:00:00
srun ./solver
