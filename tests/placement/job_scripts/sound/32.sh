#!/bin/bash
#PBS -l select=2:system=polaris
#PBS -l place=scatter
#PBS -l walltime=0:30:00
#PBS -l filesystems=home:eagle
#PBS -q debug
#PBS -A project
NNODES=`wc -l < $PBS_NODEFILE`
NRANKS=4
NDEPTH=8
NTHREADS=1
NTOTRANKS=$(( NNODES * NRANKS ))
mpiexec --np ${NTOTRANKS} -ppn ${NRANKS} --depth=${NDEPTH} --cpu-bind depth ./set_affinity_gpu_polaris.sh ./solver
