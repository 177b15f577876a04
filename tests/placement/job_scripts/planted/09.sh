#!/bin/bash
#SBATCH -N 200
#SBATCH -t 8:00:00
#SBATCH -p batch
srun -n 1600 -c 7 --gpus-per-node=mi100:8 --gpus-per-task=1 --gpu-bind=closest ./solver
