#!/bin/bash
#PBS -l select=10:system=polaris
#PBS -l place=scatter
#PBS -l walltime=1:00:00
#PBS -l filesystems=home:eagle
#PBS -q debug-scaling
#PBS -A project
NNODES=`wc -l < $PBS_NODEFILE`
NRANKS=4
NDEPTH=8
NTHREADS=8
NTOTRANKS=$(( NNODES * NRANKS ))
mpiexec --np ${NTOTRANKS} -ppn ${NRANKS} --depth=${NDEPTH} --cpu-bind depth --env OMP_NUM_THREADS=${NTHREADS} --env OMP_PLACES=threads ./set_affinity_gpu_polaris.sh ./hybrid
