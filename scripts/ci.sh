#!/usr/bin/env bash
# The jobs of continuous integration: each can run alone, on a machine without a GPU.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<EOT
usage: scripts/ci.sh JOB...
  format   the sources are formatted
  gcc      built with GCC; all tests, those of Vulkan under the validation layer too (scripts/run-tests.sh)
  clang    built with Clang, warnings being errors; the tests that need no Vulkan
  asan     built with the address and undefined-behaviour sanitizers; the tests that need no Vulkan
  tsan     built with the thread sanitizer; the runtime's tests and a load of many threads (docs/reliability.md)
  all      all of these
EOT
}

format() {
  install_packages clang-format-14
  "$root/scripts/format.sh" --check || fail "scripts/format.sh --fix formats them"
}

gcc() { "$root/scripts/run-tests.sh"; }

host_tests() {  # PRESET: builds what needs no Vulkan, and runs it
  prepare_build
  build "$1" host_tests
  run_ctest "$1" "$root/build-$1" -L host -j2
}

clang() {
  install_packages clang
  prepare_build
  build clang
  run_ctest clang "$root/build-clang" -L host -j2
}

asan() { host_tests asan; }

tsan() {
  prepare_build
  use_test_driver lanes32
  build tsan test_core test_api stress random_graphs cudart11
  export TSAN_OPTIONS="suppressions=$root/tests/stress/thread_sanitizer.supp report_thread_leaks=0"
  export LD_LIBRARY_PATH=$root/build-tsan/lib  # the sanitizer's dlopen does not look where the test program's would
  run_ctest tsan "$root/build-tsan" -R '^(core|api|stress|random_graphs)$'
}

jobs=("$@")
[ "$*" != all ] || jobs=(format gcc clang asan tsan)
[ ${#jobs[@]} != 0 ] || { usage >&2; exit 2; }
for job in "${jobs[@]}"; do
  case $job in
    format | gcc | clang | asan | tsan) ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "there is no job $job" ;;
  esac
done
for job in "${jobs[@]}"; do
  say "job $job"
  "$job"
done
