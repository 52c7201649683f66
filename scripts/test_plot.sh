#!/usr/bin/env bash
# The tests of plot.py, by a Python that sees matplotlib. With --probe: only whether there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

python=$(plot_python) || fail "no Python here sees matplotlib (Debian: python3-matplotlib)"
[ "${1:-}" = --probe ] || exec "$python" -B tests/scripts/plot_test.py
