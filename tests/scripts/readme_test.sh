#!/usr/bin/env bash
# Runs every command of the README, in order, in a copy of the tree's outside: its ```sh blocks as one script. The binary
# stands where the README says and takes few steps, whatever the config says; the two set-up scripts are only looked for,
# since .ci/run runs them whole.
#   readme_test.sh ROOT BINARY
set -euo pipefail
root=$1 binary=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build/release" "$work/runs"  # quickstart.sh, which comes first, makes runs/
cp -r "$root/configs" "$root/scripts" "$work/"
cat > "$work/build/release/headroom" <<EOF
#!/usr/bin/env bash
set -euo pipefail
if [ "\$1" = train ]; then set -- "\$@" --set train.steps=4 --set eval.items=64; fi
exec '$binary' "\$@"
EOF
chmod +x "$work/build/release/headroom"

awk '/^```sh$/ {inside=1; next} /^```$/ {inside=0} inside' "$root/README.md" > "$work/commands.sh"
for script in quickstart test; do
  grep -qx "scripts/$script.sh" "$work/commands.sh" || { echo "README does not name scripts/$script.sh"; exit 1; }
  [ -x "$root/scripts/$script.sh" ] || { echo "scripts/$script.sh cannot be run"; exit 1; }
  sed -i "\\,^scripts/$script.sh\$,d" "$work/commands.sh"
done
count=$(grep -c '^ *\(headroom\|scripts/\)' "$work/commands.sh")
[ "$count" -ge 8 ] || { echo "only $count commands found in the README"; exit 1; }
cd "$work"
bash -euo pipefail -x commands.sh
echo "ran $count commands of the README"
