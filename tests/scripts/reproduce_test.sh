#!/usr/bin/env bash
# scripts/reproduce.sh for every figure it lists, in a copy of the tree, with the binary taking three updates a run whatever the config
# says: each sweep trains, is summarized and drawn, and the drawn table has every run.
#   reproduce_test.sh ROOT BINARY
set -euo pipefail
root=$1 binary=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/data"
cp -r "$root/configs" "$root/scripts" "$work/"
cp -r "$root/data/published" "$work/data/"
cat >"$work/bin/headroom" <<WRAPPER
#!/usr/bin/env bash
if [ "\$1" = train ]; then set -- "\$@" --set train.steps=3 --set train.batch=2 --set train.schedule.warmup=0 --set eval.items=4; fi
exec '$binary' "\$@"
WRAPPER
chmod +x "$work/bin/headroom"
cd "$work"
export HEADROOM_BINARY=bin/headroom OMP_WAIT_POLICY=passive
figures=$(scripts/reproduce.sh --list | cut -d ' ' -f 1)
[ "$(wc -w <<<"$figures")" -ge 8 ] || {
  echo "only: $figures"
  exit 1
}
for figure in $figures; do
  scripts/reproduce.sh "$figure" --reduced >"$figure.out" 2>"$figure.err" || {
    cat "$figure.err"
    exit 1
  }
  for kind in png pdf csv; do [ -s "runs/paper/$figure-reduced.$kind" ] || { echo "$figure: no $kind"; exit 1; }; done
  echo "$figure: $(grep -c . "runs/paper/$figure-reduced.csv") rows"
done
# The figure's table: 20 runs at 1 and 3 layers, with the published full-rank error beside.
[ "$(grep -cE '^ *(1 layer|3 layers) +d\^2(\.5)? .* 1( |$)' fig2.out)" -ge 20 ] || { cat fig2.out; exit 1; }
grep -Eq '^ *1 layer +d\^2 +1 .* 1  0.01530' fig2.out || { cat fig2.out; exit 1; }
# The identity's: 3 seeds of 1, 4 and 16 heads.
for row in "angle_degrees +d\\^2 +3" "scale +d\\^2\\.5 +12" "scale +d\\^3 +48 .* 1478\\.00"; do
  grep -Eq "^ *$row" identity.out || { cat identity.out; exit 1; }
done
if scripts/reproduce.sh fig9 --reduced 2>/dev/null || scripts/reproduce.sh fig2 --small 2>/dev/null; then exit 1; fi
