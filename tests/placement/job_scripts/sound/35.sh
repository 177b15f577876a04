#!/bin/bash
#SBATCH --partition=normal
#SBATCH --nodes=8
#SBATCH --time=24:00:00
#SBATCH --account=g000
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=72
srun ./solver
