#!/bin/bash
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 1 -t 1:00:00
#SBATCH --gpus-per-node=v100:4
srun -n 4 -c 32 --cpu-bind=cores --gpu-bind=none ./solver
