#!/bin/bash
#SBATCH --partition=debug
#SBATCH --nodes=2
#SBATCH --time=00:30:00
#SBATCH --account=g000
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=72
export OMP_NUM_THREADS=72
srun ./hybrid
