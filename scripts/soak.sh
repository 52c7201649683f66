#!/usr/bin/env bash
# Looks for what grows: many short runs, some stopped and resumed, and beside them one long run whose memory, open files and
# time per update are read as it goes.
#   scripts/soak.sh [SECONDS]      10800 (three hours of both, six hours of runs) by default
# Works in a folder of its own in TMPDIR; HEADROOM_BINARY is the program, by default the release build. Prints what it saw;
# exit 1 where a run failed, the long run's memory or open files grew by more than a tenth, an update became a fifth slower, or a
# short run's peak memory grew by more than a tenth.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-10800}
headroom=$(readlink -f "${HEADROOM_BINARY:-build/release/headroom}")
[ -x "$headroom" ] || {
  printf 'soak.sh: no program at %s; build it or set HEADROOM_BINARY\n' "$headroom" >&2
  exit 2
}
work=$(mktemp -d "${TMPDIR:-/tmp}/headroom-soak-XXXXXX")
child=""
short=""
trap '[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true; [ -z "$short" ] || kill "$short" 2>/dev/null || true; rm -rf "$work"' EXIT
cat >"$work/config.json" <<'END'
{ "task": { "type": "linear_regression", "dim": 4, "points": 8, "curriculum": { "points": { "start": 2, "end": 8, "step": 1, "every": 50 } } },
  "model": { "width": 16, "positions": { "type": "learned" }, "attention": { "heads": 2, "mask": "causal" }, "ffn": { "width": 32 } },
  "train": { "steps": 100000000000, "batch": 8, "schedule": { "type": "constant", "warmup": 10 } },
  "eval": { "every": 200, "items": 64 }, "run": { "log_every": 10, "checkpoint_every": 50, "keep": 3 } }
END
status=0
complain() {
  printf 'soak.sh: %s\n' "$*" >&2
  status=1
}
# grown FIRST LAST FACTOR-IN-PERCENT
grown() { [ $(($2 * 100)) -gt $(($1 * $3)) ]; }

# Short runs: 300 updates, every third stopped on the way and resumed. Peak memory in kB as the kernel has it.
short_runs() {
  local runs=0 first_peak=0 peak=0 end=$((SECONDS + seconds)) train
  while [ "$SECONDS" -lt "$end" ]; do
    runs=$((runs + 1))
    train=("$headroom" train "$work/config.json" --quiet --set train.steps=300 --set "seed=$runs" --resume=auto --out "$work/short")
    if [ $((runs % 3)) -eq 0 ]; then
      "${train[@]}" --time-budget 0.05 || [ $? -eq 75 ] || complain "run $runs did not stop well"
    fi
    peak=$("${train[@]}" >/dev/null & wait_for=$!
      top=0
      while now=$(awk '/^VmHWM/ {print $2}' "/proc/$wait_for/status" 2>/dev/null) && [ -n "$now" ]; do
        top=$now
        sleep 0.01
      done
      wait "$wait_for" || exit 1
      echo "$top") || {
        complain "run $runs failed"
        peak=0
      }
    rm -rf "$work/short"
    [ "$runs" -gt 5 ] || { [ "$peak" -le "$first_peak" ] || first_peak=$peak; }
    ! grown "$first_peak" "$peak" 110 || complain "run $runs took $peak kB at its peak, the first ones $first_peak kB"
  done
  printf '%d short runs: at most %d kB in the first five, %d kB in the last\n' "$runs" "$first_peak" "$peak"
  return "$status"
}
short_runs &
short=$!

# One long run, read a hundred times.
"$headroom" train "$work/config.json" --quiet --out "$work/long" &
child=$!
while [ ! -s "$work/long/train.csv" ] || [ "$(wc -l <"$work/long/train.csv")" -lt 100 ]; do sleep 0.1; done
memory() { awk '/^VmRSS/ {print $2}' "/proc/$child/status"; }
files() { find "/proc/$child/fd" -mindepth 1 2>/dev/null | wc -l; }
# CPU time in hundredths of a second: what else the machine does is not in it.
cpu() { awk '{print $14 + $15}' "/proc/$child/stat"; }
updates() { tail -n 2 "$work/long/train.csv" | head -n 1 | cut -d, -f1; }
first_memory=$(memory) first_files=0 last_files=0
pause=$(awk "BEGIN {print $seconds / 100}")
before_updates=$(updates) before_cpu=$(cpu) first_cost=0 last_cost=0
for ((i = 1; i <= 100; ++i)); do
  sleep "$pause"
  kill -0 "$child" 2>/dev/null || complain "the long run ended"
  n=$(files) now_updates=$(updates) now_cpu=$(cpu)
  # Microseconds of CPU an update; of many readings the least is the least disturbed.
  cost=$(((now_cpu - before_cpu) * 10000 / (now_updates - before_updates + 1)))
  before_updates=$now_updates before_cpu=$now_cpu
  if [ "$i" -le 20 ]; then
    [ "$n" -le "$first_files" ] || first_files=$n
    [ "$i" -gt 1 ] && [ "$cost" -ge "$first_cost" ] || first_cost=$cost
    first_memory=$(memory)
  elif [ "$i" -gt 80 ]; then
    [ "$n" -le "$last_files" ] || last_files=$n
    [ "$i" -gt 81 ] && [ "$cost" -ge "$last_cost" ] || last_cost=$cost
  fi
done
last_memory=$(memory)
printf 'one long run, %d updates: memory %d kB after a fifth and %d kB at the end, open files %d and %d, %d and %d us of CPU an update\n' \
  "$(updates)" "$first_memory" "$last_memory" "$first_files" "$last_files" "$first_cost" "$last_cost"
kill -TERM "$child"
wait "$child" || [ $? -eq 75 ] || complain "the long run did not stop well"
child=""
wait "$short" || status=1
short=""
! grown "$first_memory" "$last_memory" 110 || complain "the long run's memory grew"
! grown "$first_files" "$last_files" 110 || complain "the long run's open files grew"
! grown "$first_cost" "$last_cost" 120 || complain "an update became slower"
exit $status
