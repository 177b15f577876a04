#!/bin/bash
#PBS -l select=2
#PBS -l place=scatter
#PBS -l walltime=1:00:00
#PBS -l filesystems=home:flare
#PBS -q debug
#PBS -A project
CPU_BIND=list:1-8:9-16:17-24:25-32:33-40:41-48:53-60:61-68:69-76:77-84:85-92:93-100
mpiexec -n 24 --ppn 12 --cpu-bind ${CPU_BIND} gpu_tile_compact.sh ./solver
