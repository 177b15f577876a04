#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=16
#SBATCH --partition=standard
#SBATCH --qos=short
#SBATCH --time=00:10:00
srun --hint=nomultithread ./hybrid
