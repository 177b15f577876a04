#!/bin/bash
#PBS -l select=4:system=polaris
#PBS -l walltime=01:00:00
#PBS -l filesystems=home:eagle
#PBS -q prod
mpiexec -n 16 --ppn 4 --depth=8 --cpu-bind depth ./set_affinity_gpu_polaris.sh ./solver
