#!/bin/bash
#SBATCH --partition=normal
#SBATCH --nodes=4
#SBATCH --constraint=mc
#SBATCH --time=24:00:00
#SBATCH --ntasks-per-node=128
#SBATCH --hint=nomultithread
srun ./solver
