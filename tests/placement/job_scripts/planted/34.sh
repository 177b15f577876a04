#!/bin/bash
#PBS -l select=4
#PBS -l walltime=01:00:00
#PBS -A budget
srun -n 512 ./solver
