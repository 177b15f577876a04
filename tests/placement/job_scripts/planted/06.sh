#!/bin/bash
#PBS -l select=2:system=polaris
#PBS -l walltime=0:30:00
#PBS -l filesystems=home:eagle
#PBS -q devel
#PBS -A project
mpiexec -n 8 --ppn 4 --depth=8 --cpu-bind depth ./set_affinity_gpu_polaris.sh ./solver
