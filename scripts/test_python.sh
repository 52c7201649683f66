#!/usr/bin/env bash
# Runs a test of the Python scripts, tests/scripts/NAME_test.py, by a Python that sees their modules.
#   scripts/test_python.sh NAME [ARGUMENT]...      with --probe: only says whether there is such a Python
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

python=$(plot_python) || fail "no Python here sees matplotlib and pandas (Debian: python3-matplotlib python3-pandas)"
if [ "${1:-}" != --probe ]; then
  test=$1
  shift
  exec "$python" -B "tests/scripts/${test}_test.py" "$@"
fi
