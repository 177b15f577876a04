#!/bin/bash
#SBATCH -p standard-g
#SBATCH -N 2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=8
#SBATCH -t 1:00:00
srun -c 7 --gpus-per-task=1 ./solver
