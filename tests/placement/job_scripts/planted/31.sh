#!/bin/bash
#SBATCH -p standard-g
#SBATCH -N 1
#SBATCH --gpus-per-node=8
#SBATCH -t 1:00:00
jsrun -n 8 -g 1 -c 7 ./solver
