# shellcheck shell=bash
# Sourced by the other scripts: what headroom needs from the system, and how to get it on Debian and its kin.

# ocl-icd-opencl-dev: the CMake files of Debian 12's oneDNN insist on it.
# shellcheck disable=SC2034  # used where this is sourced
build_packages=(g++ cmake ninja-build git libdnnl-dev ocl-icd-opencl-dev libcli11-dev nlohmann-json3-dev libspdlog-dev
  libgtest-dev libeigen3-dev)
# shellcheck disable=SC2034
plot_packages=(python3 python3-matplotlib python3-pandas)
# What the scripts can use and the tests try; slurm-wlm is tried where it is.
# shellcheck disable=SC2034
test_packages=(parallel)

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

# The first Python that sees matplotlib and pandas: the one on the PATH may be another than Debian's.
plot_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import importlib.util as u, sys; sys.exit(None in map(u.find_spec, ("matplotlib", "pandas")))' 2>/dev/null; then
      printf '%s\n' "$python"
      return
    fi
  done
  return 1
}

# Whether what a package brings is there, from wherever it came.
have() {
  case $1 in
    g++ | cmake | git | python3 | parallel | ccache | clang | clang-format | clang-tidy | shellcheck) command -v "$1" >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    python3-matplotlib | python3-pandas) plot_python >/dev/null ;;
    # A library: Debian's word for it. Elsewhere CMake looks, and names what it does not find.
    *) ! command -v dpkg-query >/dev/null || [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
  esac
}

# need PACKAGE...: installs what is missing where that is allowed, elsewhere names it and stops.
need() {
  local missing=() package as_root=()
  for package in "$@"; do
    have "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    fail "missing: ${missing[*]} (the names of Debian's packages; install what they are called here, and run this again)"
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
      fail "missing packages; install them and run this again: sudo apt-get install ${missing[*]}"
    fi
    as_root=(sudo -n)
  fi
  say "installing ${missing[*]}"
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}")
  # The package lists may be missing or old: fetched only where the first try fails.
  local said
  if ! said=$("${install[@]}" 2>&1 </dev/null); then
    said=$("${as_root[@]}" apt-get update -qq 2>&1 </dev/null && "${install[@]}" 2>&1 </dev/null) ||
      fail "could not install ${missing[*]}:"$'\n'"$said"
  fi
  for package in "${missing[@]}"; do
    have "$package" || fail "$package was installed, but what it brings cannot be found"
  done
}

# configure PRESET: cheap where nothing changed, and right again after new packages. HEADROOM_UNITY=ON compiles several sources as
# one: half the time of a whole build, and more of a small change's.
configure() {
  cmake --preset "$1" ${HEADROOM_UNITY:+-DCMAKE_UNITY_BUILD="$HEADROOM_UNITY"} >/dev/null || fail "cmake --preset $1 failed; it needs, by Debian's names: ${build_packages[*]}"
}
