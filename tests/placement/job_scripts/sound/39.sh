#!/bin/bash
#SBATCH --partition=dev-g
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --time=02:30:00
#SBATCH --account=project_465000001
cat << EOF > select_gpu
#!/bin/bash
export ROCR_VISIBLE_DEVICES=\$SLURM_LOCALID
exec \$*
EOF
chmod +x ./select_gpu
srun --cpu-bind=map_cpu:49,57,17,25,1,9,33,41 ./select_gpu ./solver
