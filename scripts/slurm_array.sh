#!/usr/bin/env bash
# Runs a sweep as a Slurm job array: the commands of `headroom grid SWEEP.json`, one a task.
#   scripts/slurm_array.sh SWEEP.json [JOBS] [SBATCH-OPTION]...       JOBS: tasks at a time; default: as many as Slurm grants
# for example scripts/slurm_array.sh sweep.json 20 --time=2:00:00 --cpus-per-task=4 --partition=short
# Each task has 1 CPU unless an option says otherwise, and a thread for each of its CPUs. Slurm sends USR1 two minutes before the
# time is over (--signal says otherwise): the run writes its checkpoint, ends with 75, and the task is queued again and resumes.
# Run again, this submits only what is not finished; it refuses while tasks of the same sweep are queued. What each task says is in
# OUT/slurm/; scripts/summarize.py SWEEP.json names the runs that failed. With --wait among the options it waits for all and its exit
# code is not 0 where one failed.
# `headroom` is the one on the PATH, else the release build beside this script. The folder has to be one that the nodes share.
set -euo pipefail
say() { printf 'slurm_array.sh: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 2
}

[ $# -ge 1 ] || fail "usage: scripts/slurm_array.sh SWEEP.json [JOBS] [SBATCH-OPTION]..."
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v headroom >/dev/null; then
  PATH="$here/../build/release:$PATH"
  command -v headroom >/dev/null || fail "no headroom on the PATH and none in build/release: scripts/quickstart.sh builds it"
fi
command -v sbatch >/dev/null || fail "no sbatch here: this is for a machine with Slurm; scripts/sweep.sh runs a sweep without"
sweep=$1
shift
limit=
if [[ ${1:-} =~ ^[1-9][0-9]{0,5}$ ]]; then
  limit=%$1
  shift
fi
for option in "$@"; do
  [[ $option == -* ]] || fail "'$option' is neither a number of jobs nor an option of sbatch; write options as --name=value"
done

code=0
lines=$(headroom grid "$sweep") || code=$?
[ "$code" -eq 0 ] || exit "$code"
if [ -z "$lines" ]; then
  say "all runs are finished"
  exit 0
fi
count=$(wc -l <<<"$lines")

# The folder of the run directories is that of the first one; grid quotes its words for a shell.
first=()
eval "first=($(head -n 1 <<<"$lines"))"
for ((i = 0; i < ${#first[@]}; ++i)); do
  if [ "${first[i]}" = --out ]; then out=$(dirname "${first[i + 1]}"); fi
done
mkdir -p "$out/slurm"
out=$(cd "$out" && pwd)
name=headroom-$(cksum <<<"$out" | cut -d ' ' -f 1)
queued=$(squeue -h -r -u "$(id -un)" -n "$name" -o '%i' | wc -l) || fail "squeue failed"
[ "$queued" -eq 0 ] || fail "$queued tasks of this sweep are queued or running (squeue -n $name); wait for them, or scancel -n $name"

file=$(mktemp "$out/slurm/lines-XXXXXX")
printf '%s\n' "$lines" >"$file"
# An array has fewer tasks than MaxArraySize.
most=$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')
most=$((${most:-1001} - 1))
say "$count runs, logs in $out/slurm, job name $name"
for ((offset = 0; offset < count; offset += most)); do
  n=$((count - offset < most ? count - offset : most))
  command=(sbatch "--array=1-$n$limit" "--job-name=$name" --cpus-per-task=1 --signal=B:USR1@120 --requeue --open-mode=append
    "--output=$out/slurm/%A_%a.txt" "$@" "$here/slurm_task.sh" "$file" "$offset")
  say "${command[*]}"
  "${command[@]}" || code=$?
done
exit "$code"
