#!/bin/bash
#SBATCH --partition=standard
#SBATCH --nodes=1
#SBATCH --ntasks=128
#SBATCH --time=1:00:00
srun -n 16 ./solver
