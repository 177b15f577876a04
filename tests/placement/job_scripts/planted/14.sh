#!/bin/bash
#PBS -l select=20:system=polaris
#PBS -l walltime=06:00:00
#PBS -l filesystems=home:eagle
#PBS -q prod
mpiexec -n 80 --ppn 4 --depth=8 --cpu-bind depth ./set_affinity_gpu_polaris.sh ./solver
