#!/usr/bin/env bash
# Kills runs that save a checkpoint at each step, at random moments, and damages checkpoints at random: every run must go on
# to the very files of one that was never stopped, every damage be noticed or without effect.
#   scripts/stress_resume.sh [KILLS [DAMAGES [FFN_WIDTH]]]      200 kills, 1000 cuts and 1000 flipped bytes, 4096 by default
# With FFN_WIDTH 4096 a checkpoint is 63 MB, and two kills of three wait for the writing of one to begin. Works in a folder of its
# own in TMPDIR, by default in memory where there is /dev/shm; HEADROOM_BINARY is the program, by default the release build. SEED
# (1) fixes the moments as far as the machine lets it. Prints the counts; exit 1 at the first difference, whose folder is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

kills=${1:-200} damages=${2:-1000} width=${3:-4096}
headroom=$(readlink -f "${HEADROOM_BINARY:-build/release/headroom}")
[ -x "$headroom" ] || {
  printf 'stress_resume.sh: no program at %s; build it or set HEADROOM_BINARY\n' "$headroom" >&2
  exit 2
}
RANDOM=${SEED:-1}
[ -n "${TMPDIR:-}" ] || { [ ! -w /dev/shm ] || TMPDIR=/dev/shm; }
work=$(mktemp -d "${TMPDIR:-/tmp}/headroom-stress-XXXXXX")
child=
trap '[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true' EXIT
different() {
  printf 'stress_resume.sh: %s (in %s)\n' "$*" "$work" >&2
  exit 1
}

model=$((width >= 1024 ? 512 : 8))
cat >"$work/config.json" <<END
{ "name": "stress", "task": { "dim": 4, "points": 4 },
  "model": { "width": $model, "read_in": "linear", "read_out": "linear", "attention": { "heads": 4 }, "ffn": { "width": $width } },
  "train": { "steps": 40, "batch": 2 }, "eval": { "every": 10, "items": 8 }, "run": { "log_every": 1, "checkpoint_every": 1, "keep": 2 } }
END
train=("$headroom" train "$work/config.json" --quiet --threads 1 --resume=auto --out)

# same FOLDER: its files are those of the run that was never stopped, times aside.
same() {
  local file
  for file in eval.csv config.json checkpoints/last.safetensors checkpoints/best.safetensors; do
    cmp -s "$work/whole/$file" "$1/$file" || different "$1/$file differs"
  done
  cmp -s <(cut -d, -f1-5,7- "$work/whole/train.csv") <(cut -d, -f1-5,7- "$1/train.csv") || different "$1/train.csv differs"
  [ -z "$(find "$1" -name '*.tmp-*')" ] || different "$1 holds temporary files"
}

begin=$EPOCHREALTIME
"${train[@]}" "$work/whole" || different "the run that nobody stops failed"
took_us=$((${EPOCHREALTIME/./} - ${begin/./}))
size=$(stat -L -c %s "$work/whole/checkpoints/last.safetensors")

# Kills come between the start and a fifth of a whole run, so that a run takes several.
done_kills=0 inside=0 rounds=0
while [ "$done_kills" -lt "$kills" ]; do
  rounds=$((rounds + 1))
  run=$work/run-$rounds
  while [ "$done_kills" -lt "$kills" ]; do
    "${train[@]}" "$run" &
    child=$!
    wait_us=$(((RANDOM * 32768 + RANDOM) % (took_us / 5 + 1)))
    sleep "$((wait_us / 1000000)).$(printf %06d $((wait_us % 1000000)))"
    # A write has begun: there is what its file is called until it is whole.
    if [ $((done_kills % 3)) -ne 0 ]; then
      until compgen -G "$run/checkpoints/.step-*.tmp-*" >/dev/null || ! kill -0 "$child" 2>/dev/null; do :; done
    fi
    if ! kill -KILL "$child" 2>/dev/null; then
      wait "$child" || different "a resumed run failed"
      child=
      break  # it was faster: the next run
    fi
    code=0
    wait "$child" 2>/dev/null || code=$?
    child=
    [ "$code" -ne 0 ] || break
    [ "$code" -eq 137 ] || different "exit code $code instead of a kill"
    done_kills=$((done_kills + 1))
    ! compgen -G "$run/checkpoints/.step-*.tmp-*" >/dev/null || inside=$((inside + 1))
  done
  "${train[@]}" "$run" || different "a resumed run failed"
  same "$run"
  rm -rf "$run"
done
[ "$kills" -eq 0 ] ||
  printf '%d kills in %d runs, %d inside the write of a checkpoint of %d bytes: every run ended in the same files, in %d s\n' \
    "$done_kills" "$rounds" "$inside" "$size" "$SECONDS"

SECONDS=0
# Damage: a small run's newest checkpoint, then --resume.
sed -i 's/"width": [0-9]*, "read_in"/"width": 8, "read_in"/; s/"ffn": { "width": [0-9]* }/"ffn": { "width": 8 }/; s/"steps": 40/"steps": 4/' \
  "$work/config.json"
rm -rf "$work/whole"
"${train[@]}" "$work/whole" || different "the small run failed"
newest=step-000000004.safetensors
size=$(stat -c %s "$work/whole/checkpoints/$newest")
detected=0 harmless=0
# damaged WHAT: the copy in $work/cut has been damaged.
damaged() {
  local code=0
  "${train[@]}" "$work/cut" 2>"$work/said" || code=$?
  [ "$code" -eq 0 ] || different "$1: exit code $code, $(cat "$work/said")"
  if [ -e "$work/cut/checkpoints/$newest.damaged" ]; then
    detected=$((detected + 1))
  else
    harmless=$((harmless + 1))
  fi
  same "$work/cut"
}
for ((i = 0; i < 2 * damages; ++i)); do
  rm -rf "$work/cut"
  cp -r "$work/whole" "$work/cut"
  rm "$work/cut/run.json"  # it says "done", and nothing would be read
  at=$(((RANDOM * 32768 + RANDOM) % size))
  file=$work/cut/checkpoints/$newest
  if [ "$i" -lt "$damages" ]; then
    truncate -s "$at" "$file"
    damaged "cut at byte $at"
  else
    old=$(od -An -tu1 -j "$at" -N 1 "$file")
    new=$(((old + 1 + RANDOM % 255) % 256))
    printf '%b' "\\x$(printf %02x "$new")" | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
    damaged "byte $at from $old to $new"
  fi
done
[ "$damages" -eq 0 ] ||
  printf '%d cuts and %d flipped bytes of a checkpoint of %d bytes: %d detected, %d harmless, the same files after each, in %d s\n' \
    "$damages" "$damages" "$size" "$detected" "$harmless" "$SECONDS"
rm -rf "$work"
