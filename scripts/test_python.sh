#!/usr/bin/env bash
# Runs a test of the Python scripts, tests/scripts/NAME_test.py, by a Python that sees their modules.
#   scripts/test_python.sh NAME       with --probe: only says whether there is such a Python
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

python=$(plot_python) || fail "no Python here sees matplotlib and pandas (Debian: python3-matplotlib python3-pandas)"
[ "${1:-}" = --probe ] || exec "$python" -B "tests/scripts/$1_test.py"
