#!/usr/bin/env bash
# The completion scripts in real shells (zsh where there is one), and the manual: what they offer is what the commands' help says.
#   completion_test.sh BINARY
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$(realpath "$1")" "$work/bin/headroom"
PATH="$work/bin:$PATH"
cd "$work"
fail() {
  echo "$*"
  exit 1
}
headroom completion bash >headroom.bash
headroom man >headroom.1
sed 's/\\-/-/g' headroom.1 >plain.1
# words WORD...: what bash offers for the last of these, one a line.
words() {
  bash -c 'source ./headroom.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _headroom; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
expect() {
  local wanted=$1
  shift
  [ "$(words "$@" | tr '\n' ' ')" = "$wanted " ] || fail "$*: $(words "$@" | tr '\n' ' '), expected $wanted"
}
expect "train" headroom tr
expect "--resume --resume=auto" headroom train x.json --res
expect "model.attention.key_size=" headroom train x.json --set model.attention.key
expect "lines json" headroom grid sweep.json --format ""
expect "bash zsh" headroom completion ""
touch "my config.json"
expect "my config.json" headroom train my
# Every command, and every flag of each one's help.
commands=$(headroom --help | awk '/^Commands:/ {on=1; next} /^$/ {on=0} on {print $1}')
[ "$(wc -w <<<"$commands")" -ge 12 ] || fail "no commands in the help"
for command in $commands; do
  grep -qx -- "$command" <<<"$(words headroom "$command")" || fail "$command is not offered"
  grep -q "^.SS headroom $command" plain.1 || fail "$command is not in the manual"
  flags=$(headroom "$command" --help | grep -oE '^  (-h, )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
  for flag in $flags; do
    grep -qx -- "$flag" <<<"$(words headroom "$command" "$flag")" || fail "$command $flag is not offered"
    [ "$flag" = --help ] || grep -q "^.B $flag" plain.1 || fail "$flag is not in the manual"
  done
done
for field in $(headroom describe config | grep -oE '^(task|model|train)\.[a-z_.]+ = ' | cut -d ' ' -f 1); do
  grep -qx "$field=" <<<"$(words headroom train x --set "$field")" || fail "--set $field is not offered"
done
if command -v zsh >/dev/null; then
  headroom completion zsh >_headroom
  zsh -f -c 'autoload -U compinit && compinit -D -u; source ./_headroom; [[ ${_comps[headroom]} == *_headroom* ]]' || fail "zsh does not take it"
fi
if command -v man >/dev/null; then
  said=$(man --warnings -l headroom.1 2>&1 >page) || true
  [ -z "$said" ] || fail "man: $said"
  grep -q "time-budget" page || fail "the manual has no --time-budget"
fi
echo "completion offers what the help says"
