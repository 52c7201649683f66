#!/usr/bin/env bash
# Fuzzes the readers of what comes from outside: config (with --set), checkpoint, sweep. Builds the fuzzers (preset fuzz,
# clang, AddressSanitizer and UndefinedBehaviorSanitizer), runs each for a share of the time on one core each, and prints
# executions and line coverage.
#   scripts/fuzz.sh [SECONDS]      300 by default, for all of them together
# The corpus grows in build/fuzz/corpus from one run to the next; what breaks a promise lands in build/fuzz/findings, and
# once fixed belongs in tests/fuzz/findings/READER, where every test run repeats it. Exit 1 if anything was found.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

seconds=${1:-300}
[[ $seconds =~ ^[0-9]+$ && $seconds -ge 3 ]] || fail "expected a number of seconds, at least 3, found '$seconds'"
need "${build_packages[@]}" clang libomp-dev llvm
configure fuzz
cmake --build --preset fuzz

build=$PWD/build/fuzz
readers=(config checkpoint sweep)
# The files whose lines count for a reader.
files_of() {
  case $1 in
    config) echo src/config/read.cpp src/config/validate.cpp src/core/json.cpp src/core/json_syntax.cpp src/core/fields_read.cpp ;;
    checkpoint) echo src/train/safetensors_read.cpp src/train/checkpoint.cpp ;;
    sweep) echo src/config/sweep.cpp src/config/sweep_axes.cpp src/config/sweep_name.cpp ;;
  esac
}

# Every name that the readers know, as words to write with.
words=$build/words.dict
grep -ohE '"[a-z][a-z0-9_]{1,30}"' src/model/model_config.* src/tasks/task_config.* src/train/train_config.* src/config/run_config.cpp \
  src/config/sweep*.cpp src/train/checkpoint.cpp src/train/safetensors_*.cpp configs/*/*.json | sort -u | sed 's/"/\\"/g; s/.*/"&"/' >"$words"

# fuzz READER: in the background, with its log.
fuzz() {
  local reader=$1 seeds=(tests/fuzz/seeds/"$1")
  [ "$reader" = checkpoint ] || seeds+=(configs)
  mkdir -p "$build/corpus/$reader" "$build/findings/$reader"
  LLVM_PROFILE_FILE=/dev/null "$build/tests/fuzz/fuzz_$reader" -max_total_time=$((seconds / ${#readers[@]})) -timeout=20 \
    -rss_limit_mb=2048 -max_len=20000 -dict="$words" -print_final_stats=1 -artifact_prefix="$build/findings/$reader/" \
    "$build/corpus/$reader" "${seeds[@]}" >"$build/$reader.log" 2>&1 </dev/null
}

status=0
for reader in "${readers[@]}"; do
  fuzz "$reader" || {
    status=1
    say "the reader of a $reader broke a promise:"
    grep -E '^(==|SUMMARY|terminate|  what)' "$build/$reader.log" >&2 || tail -n 20 "$build/$reader.log" >&2
    grep 'Test unit written' "$build/$reader.log" >&2 || true
    continue
  }
  # What the whole corpus reaches, earlier runs' share included.
  LLVM_PROFILE_FILE=$build/$reader.profraw "$build/tests/fuzz/fuzz_$reader" -runs=0 "$build/corpus/$reader" "tests/fuzz/seeds/$reader" \
    >"$build/$reader.replay.log" 2>&1 </dev/null
  llvm-profdata merge -sparse "$build/$reader.profraw" -o "$build/$reader.profdata"
  llvm-cov report "$build/tests/fuzz/fuzz_$reader" -instr-profile="$build/$reader.profdata" >"$build/$reader.coverage"
  executions=$(awk '/stat::number_of_executed_units/ {print $2}' "$build/$reader.log")
  # Columns 8 and 9: lines, lines missed.
  coverage=$(awk -v files="$(files_of "$reader")" 'BEGIN { split(files, list, " "); for (i in list) wanted[list[i]] }
    { for (file in wanted) if (index(file, $1) && $1 ~ /[.]cpp$/) { lines += $8; missed += $9 } }
    END { printf "%.1f", 100 * (lines - missed) / lines }' "$build/$reader.coverage")
  printf '%-10s %10d executions, line coverage %s %%\n' "$reader" "$executions" "$coverage"
done
exit $status
