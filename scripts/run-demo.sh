#!/usr/bin/env bash
# Builds Mulciber and runs a CUDA program on Vulkan: no GPU and no CUDA toolkit needed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in
  '') ;;
  -h | --help) echo "usage: scripts/run-demo.sh"; exit 0 ;;
  *) fail "unknown option $1" ;;
esac

prepare_build
use_test_driver stock
build release mulciber_tool vector_add_driver
say "the Vulkan devices that CUDA programs will see"
"$root/build/bin/mulciber" info
say "mulciber run build/bin/vector_add_driver"
"$root/build/bin/mulciber" run "$root/build/bin/vector_add_driver"
