#!/bin/bash
#PBS -l select=2:system=polaris
#PBS -l walltime=0:30:00
#PBS -q debug
srun -n 8 ./solver
