#!/usr/bin/env bash
# Runs a sweep on this machine: the commands of `headroom grid SWEEP.json`, JOBS at a time, each with its share of the cores.
#   scripts/sweep.sh SWEEP.json [JOBS]     default: as many jobs as cores, one thread each
# A failed run does not stop the others; the end names those that failed, with exit code and directory, and the exit code
# is 1 if any did. SIGTERM and Ctrl-C stop the runs too, which write their checkpoints. Run again, it leaves finished runs
# out and resumes the rest. OMP_NUM_THREADS limits the threads of a job.
# `headroom` is the one on the PATH, else the release build beside this script.
set -euo pipefail
say() { printf 'sweep.sh: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 2
}

# run_line WORK LINE: called by xargs, once a line.
# shellcheck disable=SC2317
run_line() {
  local work=$1 code=0 out
  # grid quotes its words for a shell, so this gives them back as they are.
  eval "set -- $2"
  out=$(directory_of "$@")
  "$@" </dev/null || code=$?
  if [ "$code" -eq 0 ]; then
    say "done: $out"
  else
    say "failed, exit code $code: $out"
    printf 'exit code %s  %s\n' "$code" "$out" >>"$work/failed"
  fi
}

# The word behind the last --out.
# shellcheck disable=SC2317
directory_of() {
  local out=
  while [ $# -gt 0 ]; do
    if [ "$1" = --out ]; then out=$2; fi
    shift
  done
  printf '%s\n' "$out"
}

# The cores this process may use: its affinity, or what the CPU quota of its container grants.
usable_cores() {
  local cores quota period
  cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
  if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [ "$quota" != max ]; then
    quota=$(((quota + period - 1) / period))
    [ "$quota" -ge "$cores" ] || cores=$quota
  fi
  printf '%s\n' "$cores"
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then fail "usage: scripts/sweep.sh SWEEP.json [JOBS]"; fi
if ! command -v headroom >/dev/null; then
  PATH="$(cd "$(dirname "$0")/.." && pwd)/build/release:$PATH"
  command -v headroom >/dev/null || fail "no headroom on the PATH and none in build/release: scripts/quickstart.sh builds it"
fi

cores=$(usable_cores)
jobs=${2:-$cores}
[[ $jobs =~ ^[1-9][0-9]{0,5}$ ]] || fail "JOBS must be a whole number from 1, found '$jobs'"
if [ "$jobs" -gt "$cores" ]; then
  say "$jobs jobs would share $cores cores; taking $cores"
  jobs=$cores
fi
threads=$((cores / jobs))
if [[ ${OMP_NUM_THREADS:-} =~ ^[1-9][0-9]{0,5}$ ]] && [ "$OMP_NUM_THREADS" -lt "$threads" ]; then threads=$OMP_NUM_THREADS; fi
export OMP_NUM_THREADS=$threads

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0
headroom grid "$1" >"$work/lines" || code=$?
[ "$code" -eq 0 ] || exit "$code"
count=$(wc -l <"$work/lines")
if [ "$count" -eq 0 ]; then
  say "all runs are finished"
  exit 0
fi
say "$count runs, $jobs at a time, OMP_NUM_THREADS=$threads each ($cores cores)"

: >"$work/failed"
export -f say run_line directory_of
# A process group of its own, so that one signal reaches every run and this script waits for their checkpoints.
set -m
# xargs reads whole lines and passes each as one word, whatever it holds.
# shellcheck disable=SC2016  # the inner bash expands
xargs -d '\n' -n 1 -P "$jobs" -a "$work/lines" bash -c 'run_line "$@"' run_line "$work" </dev/null &
engine=$!
set +m
# stop EXIT_CODE: called by the traps.
# shellcheck disable=SC2317
stop() {
  trap '' INT TERM
  say "stopping; the same command goes on with what is not finished"
  kill -TERM -- "-$engine" 2>/dev/null || true
  while kill -0 -- "-$engine" 2>/dev/null; do sleep 0.1; done
  exit "$1"
}
trap 'stop 130' INT
trap 'stop 75' TERM
wait "$engine" || fail "xargs failed"
n_failed=$(wc -l <"$work/failed")
if [ "$n_failed" -eq 0 ]; then
  say "all $count runs are done"
  exit 0
fi
say "$n_failed of $count runs failed:"
sort -k 4 "$work/failed" >&2
exit 1
