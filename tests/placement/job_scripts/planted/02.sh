#!/bin/bash
#SBATCH --partition=standard_g
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --time=1-00:00:00
srun --cpu-bind=map_cpu:49,57,17,25,1,9,33,41 ./select_gpu ./solver
