#!/bin/bash
#SBATCH --partition=debug
#SBATCH --nodes=1
#SBATCH --constraint=mc
#SBATCH --time=00:30:00
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=8
#SBATCH --hint=nomultithread
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export OMP_PROC_BIND=true
srun ./hybrid
