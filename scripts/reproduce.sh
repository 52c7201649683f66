#!/usr/bin/env bash
# From a published experiment's preset (configs/paper/) to its figure: builds, runs the sweep, summarizes, draws.
#   scripts/reproduce.sh FIGURE --reduced|--full [--estimate] [JOBS]
# FIGURE: fig2 points dims positions identity in-context-rank kuang garg random-features von-oswald (scripts/reproduce.sh --list says what each is)
# --reduced: smaller and shorter, minutes on two cores (the three in-context ones: up to an hour). --full: as published, days to weeks.
# --estimate: trains nothing; asks `headroom check` for the time of every run and adds up. JOBS: as in scripts/sweep.sh.
# Results: runs/paper/FIGURE-reduced/ (the runs), runs/paper/FIGURE-reduced.{csv,png,pdf}; run again, it goes on with what is missing.
# HEADROOM_PRESET=dev takes that build.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

# FIGURE | sweeps, or =CONSTRUCTION | arguments of plot.py | what it shows
table='
fig2|fig2|against model.attention.key_size --panels model.layers --lines budget --published data/published/amsel-fig2.csv|error against the rank of the heads at fixed budgets (Amsel, Yehudai, Bruna 2025, figure 2)
points|points|against task.points --lines rank/dim --published data/published/amsel-points.csv|error against the number of points (same paper)
dims|dims|against task.dim --lines model.attention.heads|error against the dimension (same paper, its repository)
positions|positions positions-concatenated|against model.attention.key_size --panels model.layers --lines model.positions.type --published data/published/amsel-positions.csv|error against rank with positional encodings (same paper)
identity|identity|identity --published data/published/amsel-identity.csv|angle of W_Q^T W_K to the identity, and its scale, of full-rank heads (same paper)
in-context-rank|in-context-rank|against rank/dim --position last --baselines zero --published data/published/amsel-in-context.csv|in-context regression against the rank of the heads (same paper, figure 1 of the poster)
kuang|kuang|against rank/dim --position last --lines task.dim --published data/published/kuang-rank.csv|in-context regression against rank over dimension (Kuang, Amsel et al. 2025)
garg|garg|examples --published data/published/garg-in-context.csv|error against in-context examples (Garg et al. 2022)
random-features|=weighted_random|against model.attention.heads --lines task.dim --baselines --published data/published/amsel-random-features.csv|hand-set random heads under their best weights, error against their number (Amsel, Yehudai, Bruna 2025)
von-oswald|von-oswald|against task.points --baselines gradient_descent_1 --position last|linear attention and a tuned step of gradient descent (von Oswald et al. 2023)
'
usage() {
  say "usage: scripts/reproduce.sh FIGURE --reduced|--full [--estimate] [JOBS]; FIGURE is one of$(cut -d '|' -f 1 <<<"$table" | tr '\n' ' ')"
  exit 2
}
if [ "${1:-}" = --list ]; then
  awk -F '|' 'NF {printf "%-16s %s\n", $1, $4}' <<<"$table"
  exit 0
fi
[ $# -ge 2 ] || usage
figure=$1 size=${2#--}
shift 2
row=$(awk -F '|' -v figure="$figure" '$1 == figure' <<<"$table")
[ -n "$row" ] || usage
[ "$size" = reduced ] || [ "$size" = full ] || usage
estimate=
if [ "${1:-}" = --estimate ]; then
  estimate=1
  shift
fi
[ $# -le 1 ] || usage
IFS='|' read -r _ sweeps plot _ <<<"$row"
read -ra sweeps <<<"$sweeps"
read -ra plot <<<"$plot"

need "${build_packages[@]}" "${plot_packages[@]}"
preset=${HEADROOM_PRESET:-release}
if [ -z "${HEADROOM_BINARY:-}" ]; then
  say "building ($preset)"
  configure "$preset"
  cmake --build --preset "$preset" --target headroom
  HEADROOM_BINARY=build/$preset/headroom
fi
PATH="$(cd "$(dirname "$HEADROOM_BINARY")" && pwd):$PATH"
python=$(plot_python)

# Models set by hand, one run a dimension, number of heads and seed; those that are there stay.
construct() {
  local name=$1 dims="8 64" all_heads="4 16 64 256" seeds=0 dim heads seed out
  if [ "$size" = full ]; then
    dims="8 16 32 64" all_heads="1 2 4 8 16 32 64 128 256 512 1024 2048 4096" seeds="0 1 2 3 4"
  fi
  mkdir -p "runs/paper/$figure-$size"
  for dim in $dims; do for heads in $all_heads; do for seed in $seeds; do
    out=runs/paper/$figure-$size/dim-$dim-heads-$heads-seed-$seed
    [ -s "$out/eval.csv" ] ||
      headroom construct "$name" --set "dim=$dim" --set "heads=$heads" --set "seed=$seed" --out "$out" --force --quiet
  done; done; done
}

if [ -n "$estimate" ] && [[ ${sweeps[0]} = =* ]]; then
  say "nothing to train: minutes"
  exit 0
elif [ -n "$estimate" ]; then
  # One check a model: seeds cost the same.
  for sweep in "${sweeps[@]}"; do headroom grid "configs/paper/$sweep-$size.json" --all --quiet --format json; done |
    "$python" -B scripts/figures/estimate.py headroom
  exit 0
fi

code=0 folders=()
for sweep in "${sweeps[@]}"; do
  if [[ $sweep = =* ]]; then
    construct "${sweep#=}"
    folders+=("runs/paper/$figure-$size")
    continue
  fi
  scripts/sweep.sh "configs/paper/$sweep-$size.json" "$@" || code=$?
  [ "$code" -le 1 ] || exit "$code"
  folders+=("runs/paper/$sweep-$size")
done
# What failed was said; the figure shows what there is, and marks what diverged.
"$python" -B scripts/summarize.py "${folders[@]}" --measure last train_best --groups "runs/paper/$figure-$size.csv" || code=$?
inputs=("${folders[@]}")
if [ "${plot[0]}" = identity ]; then
  # From what inspect says of each run that is done.
  inputs=()
  mkdir -p "runs/paper/$figure-$size-heads"
  for run in "runs/paper/$figure-$size"/*/; do
    json=runs/paper/$figure-$size-heads/$(basename "$run").json
    headroom inspect "$run" --items 64 --json >"$json" || {
      rm "$json"
      continue
    }
    inputs+=("$json")
  done
fi
for kind in png pdf; do
  "$python" -B scripts/plot.py "${plot[@]}" "${inputs[@]}" --title "$figure, $size" -o "runs/paper/$figure-$size.$kind"
done
exit "$code"
