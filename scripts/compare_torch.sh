#!/usr/bin/env bash
# Times headroom's training step against PyTorch's, interleaved: see compare_torch.py --help. Builds the release if there is none.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

if [ ! -x build/release/headroom ]; then
  need "${build_packages[@]}"
  configure release
  cmake --build --preset release --target headroom
fi
exec python3 scripts/compare_torch.py "$@"
