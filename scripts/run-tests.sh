#!/usr/bin/env bash
# Sets up, builds and tests Mulciber on a machine without a GPU.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<EOT
usage: scripts/run-tests.sh [OPTION...]
  --stock-driver    use the distribution's lavapipe instead of building the 32-lane one; tests of warp operations skip
  --no-validation   leave out the second run under the Vulkan validation layer
  --only REGEX      only the test areas that match (ctest -R)
EOT
}
driver=lanes32 validation=yes only=()
while [ $# -gt 0 ]; do
  case $1 in
    --stock-driver) driver=stock ;;
    --no-validation) validation=no ;;
    --only) [ $# -gt 1 ] || fail "--only needs a regular expression"; only=(-R "$2"); shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown option $1" ;;
  esac
  shift
done

prepare_build
install_packages valgrind xvfb clang bash-completion zsh fish
install_distribution_driver  # has windows, which the 32-lane driver has not
[ "$validation" = no ] || install_packages vulkan-validationlayers
use_test_driver "$driver"
build release

if [ "$validation" = yes ]; then
  say "testing under the Vulkan validation layer: any message is a failure"
  layer=$(dpkg-query -W -f '${Version}' vulkan-validationlayers)
  # A layer older than an extension takes its use for an error.
  if dpkg --compare-versions "$layer" lt 1.3.280; then
    export MULCIBER_DISABLE_EXTENSIONS=VK_KHR_shader_maximal_reconvergence
  fi
  VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation run_ctest validation "$root/build" -j2 -L vulkan "${only[@]}"
  if grep -nE 'Validation (Error|Warning)|VUID-|UNASSIGNED-' "$root/build/Testing/Temporary/LastTest.log" | head -20 | grep .; then
    fail "the validation layer had something to say (above)"
  fi
  unset MULCIBER_DISABLE_EXTENSIONS
fi
say "testing"
run_ctest tests "$root/build" -j2 "${only[@]}"
