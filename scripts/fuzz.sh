#!/usr/bin/env bash
# Fuzzes the readers of what comes from outside: config (with --set), checkpoint, sweep. Builds the fuzzers (preset fuzz: clang,
# AddressSanitizer and UndefinedBehaviorSanitizer), runs each for a share of the time on one core, and prints executions, of this
# run and of all that made the corpus, and the share of the reader's lines that the corpus reaches (preset fuzz-coverage).
#   scripts/fuzz.sh [SECONDS [READER]...]      300 seconds by default, for all of config, checkpoint and sweep together
# The corpus grows in build/fuzz/corpus from one run to the next; what breaks a promise lands in build/fuzz/findings, and
# once fixed belongs in tests/fuzz/findings/READER, where every test run repeats it. Exit 1 if anything was found.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

seconds=${1:-300}
readers=("${@:2}")
[ ${#readers[@]} -gt 0 ] || readers=(config checkpoint sweep)
[[ $seconds =~ ^[0-9]+$ && $seconds -ge ${#readers[@]} ]] || fail "expected a number of seconds, at least 1 a reader, found '$seconds'"
# The files whose lines count for a reader.
files_of() {
  case $1 in
    config) echo src/config/read.cpp src/config/validate.cpp src/core/json.cpp src/core/json_syntax.cpp src/core/fields_read.cpp ;;
    checkpoint) echo src/train/safetensors_read.cpp src/train/checkpoint.cpp ;;
    sweep) echo src/config/sweep.cpp src/config/sweep_axes.cpp src/config/sweep_name.cpp ;;
    *) fail "no reader '$1'; there are config, checkpoint and sweep" ;;
  esac
}
for reader in "${readers[@]}"; do files_of "$reader" >/dev/null; done
need "${build_packages[@]}" clang libomp-dev llvm
for preset in fuzz fuzz-coverage; do
  configure "$preset"
  cmake --build --preset "$preset"
done
build=$PWD/build/fuzz covered=$PWD/build/fuzz-coverage

# Every name that the readers know, as words to write with.
words=$build/words.dict
grep -ohE '"[a-z][a-z0-9_.-]{1,30}"' src/model/model_config.* src/tasks/task_config.* src/train/train_config.* src/config/run_config.cpp \
  src/config/sweep*.cpp src/train/checkpoint*.{h,cpp} src/train/safetensors_*.{h,cpp} configs/*/*.json | sort -u | sed 's/"/\\"/g; s/.*/"&"/' >"$words"

# run READER ARGUMENT...: the fuzzer, stacks cut short because a finding is run once more for its whole one.
run() {
  local reader=$1
  shift
  ASAN_OPTIONS=malloc_context_size=${stack:-1}:quarantine_size_mb=16 "$build/tests/fuzz/fuzz_$reader" -timeout=60 -rss_limit_mb=2048 "$@" </dev/null
}

# fuzz READER: its share of the time. The clock of -timeout runs on while the machine does something else, so a unit that
# seemed to hang has hung only if it does so again.
fuzz() {
  local reader=$1 seeds=("$PWD/tests/fuzz/seeds/$1") end=$((SECONDS + seconds / ${#readers[@]})) unit
  [ "$reader" = checkpoint ] || seeds+=("$PWD/configs")
  [ ! -d "tests/fuzz/findings/$reader" ] || seeds+=("$PWD/tests/fuzz/findings/$reader")
  mkdir -p "$build/corpus/$reader" "$build/findings/$reader"
  while [ "$SECONDS" -lt "$end" ]; do
    # Weighing inputs by rarity (-entropic) takes longer than most inputs.
    ! run "$reader" -max_total_time=$((end - SECONDS)) -entropic=0 -report_slow_units=1000 -max_len=8192 -dict="$words" \
      -print_final_stats=1 -artifact_prefix="$build/findings/$reader/" "$build/corpus/$reader" "${seeds[@]}" >"$build/$reader.log" 2>&1 || {
      count "$reader"
      return 0
    }
    count "$reader"
    unit=$(sed -n 's/.*Test unit written to //p' "$build/$reader.log" | tail -n 1)
    [ -n "$unit" ] || return 1
    stack=30 run "$reader" "$unit" >"$build/$reader.log" 2>&1 && [[ $unit == */timeout-* ]] || return 1
    rm "$unit"
  done
}

# Adds the executions of the last run to those before.
count() {
  local total=$build/$1.executions before=0 now
  [ ! -s "$total" ] || before=$(<"$total")
  now=$(awk '/stat::number_of_executed_units/ {print $2}' "$build/$1.log")
  executed=$((executed + ${now:-0}))
  echo $((before + ${now:-0})) >"$total"
}

status=0
for reader in "${readers[@]}"; do
  executed=0
  fuzz "$reader" || {
    status=1
    say "the reader of a $reader broke a promise:"
    grep -E '^(==|SUMMARY|terminate|  what)' "$build/$reader.log" >&2 || tail -n 20 "$build/$reader.log" >&2
    ls "$build/findings/$reader"/* >&2
  }
  LLVM_PROFILE_FILE=$covered/$reader.profraw "$covered/tests/fuzz/fuzz_$reader" "$build/corpus/$reader" "tests/fuzz/seeds/$reader"
  llvm-profdata merge -sparse "$covered/$reader.profraw" -o "$covered/$reader.profdata"
  llvm-cov report "$covered/tests/fuzz/fuzz_$reader" -instr-profile="$covered/$reader.profdata" >"$covered/$reader.coverage"
  # A file's name is cut by what all have in common, or a path from the build folder; columns 8 and 9: lines, lines missed.
  coverage=$(awk -v files="$(files_of "$reader")" 'BEGIN { split(files, list, " "); for (i in list) wanted[list[i]] }
    { for (file in wanted) if ($1 ~ /[.]cpp$/ && (index(file, $1) || index($1, file))) { lines += $8; missed += $9 } }
    END { printf "%.1f", 100 * (lines - missed) / lines }' "$covered/$reader.coverage")
  printf '%-10s %10d executions (%d in all), line coverage %s %%\n' "$reader" "$executed" "$(<"$build/$reader.executions")" "$coverage"
done
exit $status
