#!/usr/bin/env bash
# Builds headroom (preset dev, in build/dev) and runs its tests; installs missing Debian packages where it may.
#   scripts/test.sh [CTEST-OPTION]...     for example: scripts/test.sh -L fast, scripts/test.sh -R attention
# Running it again builds only what changed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

need "${build_packages[@]}" "${plot_packages[@]}" "${test_packages[@]}"
configure dev
cmake --build --preset dev
ctest --preset dev -j "$(nproc)" --no-tests=error "$@"
