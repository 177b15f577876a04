#!/bin/bash
#SBATCH --partition=standard
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=128
#SBATCH --time=3-00:00:00
srun ./solver
