#!/usr/bin/env bash
# What `cmake --install` puts under a prefix works from there, without the source tree: the binary, a sweep with its table and figure
# by the installed scripts, completion where bash and zsh look for it (zsh where there is one), the manual where man does.
#   install_test.sh BUILD_FOLDER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*"
  exit 1
}
prefix="$work/the prefix" share="$work/the prefix/share"
cmake --install "$1" --prefix "$prefix" >/dev/null
mkdir "$work/elsewhere"
cd "$work/elsewhere"
PATH="$prefix/bin:$PATH"
[ "$(command -v headroom)" = "$prefix/bin/headroom" ] || fail "no binary in $prefix/bin"

cat >sweep.json <<SWEEP
{ "base": "$share/headroom/configs/quickstart/base.json", "out": "runs", "name": "rank-{model.attention.key_size}",
  "axes": [ { "model.attention.heads": [4, 1] }, { "train.steps": [3] }, { "train.schedule.warmup": [0] }, { "eval.items": [16] } ] }
SWEEP
scripts="$share/headroom/scripts"
OMP_WAIT_POLICY=passive "$scripts/sweep.sh" sweep.json 2>said || fail "$(cat said)"
"$scripts/summarize.py" sweep.json --groups groups.csv >/dev/null 2>said || fail "$(cat said)"
[ "$(wc -l <groups.csv)" -eq 3 ] || fail "$(cat groups.csv)"
"$scripts/plot.py" against rank/dim runs --panels model.layers --lines budget --published "$share/headroom/data/published/amsel-fig2.csv" -o ours.png >table ||
  fail "no figure"
grep -Eq ' 1 +[0-9.]+ +[0-9.]+ +[0-9.]+ +1  0\.01530$' table || fail "$(cat table)"
"$scripts/tensorboard.py" runs --out logs 2>said || fail "$(cat said)"

# As bash-completion loads it: by the name of the command.
# shellcheck disable=SC2016  # the inner bash expands
offered=$(bash -c 'source "$1"; COMP_WORDS=(headroom tr); COMP_CWORD=1; _headroom; echo "${COMPREPLY[@]}"' bash \
  "$share/bash-completion/completions/headroom")
[ "$offered" = train ] || fail "bash offers '$offered'"
if command -v zsh >/dev/null; then
  # The first completion in a terminal, whose answer the loading of the function must not cost.
  cat >terminal.zsh <<'ZSH'
zmodload zsh/zpty
zpty shell 'PS1= zsh -f -i'
zpty -w shell "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -D -u; echo ready\$((40 + 2))"
zpty -r shell line '*ready42*'
zpty -w -n shell $'headroom describe --mark\t'
zpty -r shell line '*--markdown*'
ZSH
  timeout 30 zsh -f terminal.zsh "$share/zsh/site-functions" || fail "zsh's first completion offers nothing"
fi
grep -q '^\.SS headroom train' "$share/man/man1/headroom.1" || fail "no manual"
if command -v man >/dev/null; then
  MANPATH="$share/man" man headroom 2>said >page || fail "man: $(cat said)"
  grep -q "time-budget" page || fail "the manual has no --time-budget"
fi
echo "the installed parts work"
