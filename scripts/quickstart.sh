#!/usr/bin/env bash
# From a fresh clone to the first picture: installs what is missing (Debian), builds the release preset, trains heads of rank
# 1, 2, 4, 8 and 16 at one budget on nearest-neighbour retrieval, prints their held-out errors and draws them.
#   scripts/quickstart.sh [SEED]...       default: 0
# HEADROOM_PRESET=dev builds that preset instead, where it has been built already. Run again, it leaves finished runs as they are and trains only what is missing; remove runs/quickstart to start over.
set -euo pipefail
for seed in "$@"; do
  case $seed in
    '' | *[!0-9]*)
      echo "usage: scripts/quickstart.sh [SEED]...   trains, with each seed (a whole number; default 0), and draws runs/quickstart/rank.png" >&2
      exit 2
      ;;
  esac
done
cd "$(dirname "$0")/.."
. scripts/packages.sh

need "${build_packages[@]}" "${plot_packages[@]}"
preset=${HEADROOM_PRESET:-release}
say "building ($preset)"
configure "$preset"
cmake --build --preset "$preset" --target headroom

headroom=build/$preset/headroom
seeds=("$@")
[ ${#seeds[@]} -gt 0 ] || seeds=(0)
mkdir -p runs/quickstart
for seed in "${seeds[@]}"; do
  for rank in 1 2 4 8 16; do
    run=runs/quickstart/rank-$rank-seed-$seed
    if grep -q '"exit_code": *0' "$run/run.json" 2>/dev/null; then
      say "$run is finished, left as it is"
      continue
    fi
    say "training rank $rank, seed $seed"
    # --force: what an interrupted run left is moved aside.
    "$headroom" train "configs/quickstart/rank-$rank.json" --set "seed=$seed" --out "$run" --force
  done
done

"$(plot_python)" scripts/plot.py rank runs/quickstart/rank-*-seed-* -o runs/quickstart/rank.png
