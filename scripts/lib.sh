# Shared by the scripts: messages, root, packages, the cache folder. Sourced, never run.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${MULCIBER_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mulciber}
export DEBIAN_FRONTEND=noninteractive

say() { printf '==> %s\n' "$*" >&2; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo -E "$@"
  else fail "installing packages needs root: run this as root or install sudo"
  fi
}

distribution() { . /etc/os-release && echo "$ID-${VERSION_CODENAME:-}"; }

# install_packages [-t RELEASE] PACKAGE...: what is missing of them. Says so first, and nothing more unless it fails.
install_packages() {
  local release=() missing=() package log
  [ "$1" = -t ] && { release=(-t "$2"); shift 2; }
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  command -v apt-get >/dev/null || fail "this system has no apt-get: install the packages of scripts/packages.txt by hand, then run cmake --preset release && ninja -C build"
  say "installing ${missing[*]}"
  log=$(mktemp)
  for _ in 1 2 3; do
    if as_root apt-get install -qy --no-install-recommends "${release[@]}" "${missing[@]}" >"$log" 2>&1; then rm -f "$log"; return; fi
    as_root apt-get update -q >>"$log" 2>&1 || sleep 3
  done
  tail -5 "$log" >&2
  fail "apt-get could not install ${missing[*]}; its log is $log"
}

# The distribution's own archive, as this system's apt configuration names it.
archive_uri() {
  local file
  for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list.d/ubuntu.sources; do
    [ -f "$file" ] && { awk '/^URIs:/{print $2; exit}' "$file"; return; }
  done
  awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) {print $i; exit}}' /etc/apt/sources.list
}

add_sources() {  # NAME TYPE SUITE
  local list=/etc/apt/sources.list.d/mulciber-$1.sources
  [ -f "$list" ] && return
  local keyring=debian components=main
  case $(distribution) in ubuntu-*) keyring=ubuntu components='main universe' ;; esac
  printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: %s\nSigned-By: /usr/share/keyrings/%s-archive-keyring.gpg\n' \
    "$2" "$(archive_uri)" "$3" "$components" "$keyring" | as_root tee "$list" >/dev/null
  as_root apt-get update -q >/dev/null 2>&1 || { as_root rm -f "$list"; fail "apt-get update failed with the suite $3 added"; }
}

# Source packages of the Debian release whose versions we pin. Debian only.
add_pinned_sources() { case $(distribution) in debian-*) add_sources sources deb-src trixie ;; *) return 1 ;; esac; }

# fetch_source PACKAGE [VERSION]: its upstream tarball, checked by apt, unpacked into ./PACKAGE; the newest by default.
fetch_source() {
  for _ in 1 2 3; do
    apt-get source -q --download-only --tar-only "$1${2:+=$2}" >/dev/null 2>&1 && break
    sleep 3
  done
  ls "$1"_*.orig.tar.* >/dev/null 2>&1 || fail "the source package $1 ${2:-} could not be fetched"
  mkdir -p "$1" && tar -xf "$1"_*.orig.tar.* -C "$1" --strip-components=1
}

# Everything a build needs: the packages of scripts/packages.txt, Zydis, and SPIRV-Tools where the system's is too old.
prepare_build() {
  local packages
  mapfile -t packages < <(grep -v '^#' "$root/scripts/packages.txt")
  apt-cache show cmake >/dev/null 2>&1 || as_root apt-get update -q >/dev/null
  install_packages "${packages[@]}"
  local header=/usr/include/vulkan/vulkan_core.h
  if [ "$(sed -n 's/^#define VK_HEADER_VERSION \([0-9]*\)$/\1/p' "$header")" -lt 280 ]; then
    "$root/third_party/khronos/build.sh" >/dev/null
  fi
  "$root/third_party/zydis/build.sh" >/dev/null
}

build() {  # PRESET [TARGET...]
  local preset=$1 log
  shift
  log=$(mktemp)
  say "building (preset $preset)"
  cmake -S "$root" --preset "$preset" >"$log" 2>&1 || { tail -30 "$log" >&2; fail "configuring failed; the log is $log"; }
  cmake --build --preset "$preset" ${1:+--target "$@"} >"$log" 2>&1 || { grep -E 'error|FAILED|undefined reference' "$log" | head -40 >&2; fail "the build failed; the log is $log"; }
  rm -f "$log"
}

# The distribution's own Vulkan drivers, new enough.
install_distribution_driver() {
  if [ "$(distribution)" = debian-bookworm ]; then
    add_sources backports deb bookworm-backports
    install_packages -t bookworm-backports mesa-vulkan-drivers
  else
    install_packages mesa-vulkan-drivers
  fi
}

# The Vulkan driver for a machine without a GPU.
use_test_driver() {  # stock | lanes32
  local driver=$1
  case $driver-$(distribution) in
    lanes32-debian-*) ;;
    lanes32-*) driver=stock; say "the 32-lane driver is built from Debian's sources only: testing with the distribution's" ;;
  esac
  if [ "$driver" = lanes32 ]; then
    VK_DRIVER_FILES=$("$root/third_party/lavapipe/build.sh")
    export VK_DRIVER_FILES LP_NATIVE_VECTOR_WIDTH=1024
  else
    install_distribution_driver
  fi
}

# run_ctest NAME BUILD-FOLDER CTEST-OPTION...: the log is build/NAME.log. Hangs are what watch.py finds, not what takes
# long by the clock.
run_ctest() {
  local log=$root/build/$1.log folder=$2
  shift 2
  mkdir -p "$root/build"
  if ! "$root/tests/tools/watch.py" ctest --test-dir "$folder" --timeout 1000000 --output-on-failure "$@" >"$log" 2>&1; then
    grep -vE '^[0-9]+: |\[ +(OK|RUN|PASSED) +\]|\[[-=]+\]' "$log" | tail -150
    fail "tests failed; the log is $log"
  fi
  # Why tests were skipped, each reason once.
  grep -hoE 'skipped: .*' "$folder/Testing/Temporary/LastTest.log" | sort | uniq -c | sort -rn | head -20 || true
  grep -E 'tests passed' "$log"
}
