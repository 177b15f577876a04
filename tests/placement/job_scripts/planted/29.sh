#!/bin/bash
#SBATCH --partition=standard
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=128
#SBATCH --mem=16G
#SBATCH --time=1:00:00
srun ./solver
