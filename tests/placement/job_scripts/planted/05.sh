#!/bin/bash
#SBATCH --partition=cpu
#SBATCH --constraint=mc
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=128
#SBATCH --hint=nomultithread
#SBATCH --time=06:00:00
srun ./solver
