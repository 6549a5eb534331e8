#!/usr/bin/env bash
# Sets up, builds and tests Mulciber on a machine without a GPU.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<EOT
usage: scripts/run-tests.sh [OPTION...]
  --stock-driver    use the distribution's lavapipe instead of building the 32-lane one; tests of warp operations skip
  --no-validation   leave out the second run under the Vulkan validation layer
  --sanitize        also build with the address and undefined-behaviour sanitizers, and test what needs no Vulkan
  --only REGEX      only the test areas that match (ctest -R)
EOT
}
driver=lanes32 validation=yes sanitize=no only=()
while [ $# -gt 0 ]; do
  case $1 in
    --stock-driver) driver=stock ;;
    --no-validation) validation=no ;;
    --sanitize) sanitize=yes ;;
    --only) [ $# -gt 1 ] || fail "--only needs a regular expression"; only=(-R "$2"); shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown option $1" ;;
  esac
  shift
done

prepare_build
install_packages valgrind
if apt-cache show clang-format-14 >/dev/null 2>&1; then
  install_packages clang-format-14
  say "checking the format of the sources"
  "$root/scripts/format.sh" --check || fail "scripts/format.sh --fix formats them"
else
  say "skipped: this system has no clang-format-14, so the format of the sources is not checked"
fi
[ "$validation" = no ] || install_packages vulkan-validationlayers
use_test_driver "$driver"
build release

run_ctest() {  # NAME CTEST-OPTION...
  local log=$root/build/$1.log folder=$2
  shift 2
  # Hangs are what watch.py finds, not what takes long by the clock.
  if ! "$root/tests/tools/watch.py" ctest --test-dir "$folder" --timeout 1000000 --output-on-failure "${only[@]}" "$@" >"$log" 2>&1; then
    grep -vE '^[0-9]+: |\[ +(OK|RUN|PASSED) +\]|\[[-=]+\]' "$log" | tail -150
    fail "tests failed; the log is $log"
  fi
  # Why tests were skipped, each reason once.
  grep -hoE 'skipped: .*' "$folder/Testing/Temporary/LastTest.log" | sort | uniq -c | sort -rn | head -20 || true
  grep -E 'tests passed' "$log"
}

if [ "$validation" = yes ]; then
  say "testing under the Vulkan validation layer: any message is a failure"
  layer=$(dpkg-query -W -f '${Version}' vulkan-validationlayers)
  # A layer older than an extension takes its use for an error.
  if dpkg --compare-versions "$layer" lt 1.3.280; then
    export MULCIBER_DISABLE_EXTENSIONS=VK_KHR_shader_maximal_reconvergence
  fi
  VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation run_ctest validation "$root/build" -L vulkan
  if grep -nE 'Validation (Error|Warning)|VUID-|UNASSIGNED-' "$root/build/Testing/Temporary/LastTest.log" | head -20 | grep .; then
    fail "the validation layer had something to say (above)"
  fi
  unset MULCIBER_DISABLE_EXTENSIONS
fi
if [ "$sanitize" = yes ]; then
  build asan host_tests
  say "testing under the sanitizers"
  run_ctest sanitizers "$root/build-asan" -L host -j2
fi
say "testing"
run_ctest tests "$root/build" -j2
