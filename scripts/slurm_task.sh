#!/usr/bin/env bash
# One task of a job array that scripts/slurm_array.sh submits: runs line OFFSET + SLURM_ARRAY_TASK_ID of the file LINES.
#   slurm_task.sh LINES OFFSET
# USR1 and TERM reach this shell alone or the run as well; either way the run gets one and writes its checkpoint. A run that stops
# early (75) is queued again, but not where the job is being cancelled, which is what TERM says.
set -euo pipefail
number=$(($2 + SLURM_ARRAY_TASK_ID))
line=$(sed -n "${number}p" "$1")
[ -n "$line" ] || {
  echo "slurm_task.sh: $1 has no line $number" >&2
  exit 2
}
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
echo "slurm_task.sh: job ${SLURM_JOB_ID}, start ${SLURM_RESTART_COUNT:-0}, $OMP_NUM_THREADS threads: $line"
# grid quotes its words for a shell, so this gives them back as they are.
eval "set -- $line"
"$@" </dev/null &
run=$!
cancelled=
trap 'kill -USR1 "$run" 2>/dev/null || true' USR1
trap 'cancelled=1; kill -TERM "$run" 2>/dev/null || true' TERM
# wait returns early, with more than 128, when a signal came in.
code=0
while :; do
  code=0
  wait "$run" || code=$?
  kill -0 "$run" 2>/dev/null || break
done
echo "slurm_task.sh: exit code $code"
if [ "$code" -eq 75 ] && [ -z "$cancelled" ]; then
  echo "slurm_task.sh: queued again"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
