#!/usr/bin/env bash
# Formats the C++ and CUDA sources as .clang-format says, or checks that they are: versions of clang-format differ in what
# they make of one configuration, so only the one named here counts.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
major=14
case ${1:-} in
  --check) action=(--dry-run -Werror) ;;
  --fix) action=(-i) ;;
  *) echo "usage: scripts/format.sh --check|--fix [FILE...]     (default: all that git tracks)"; exit 2 ;;
esac
shift
formatter=$(command -v "clang-format-$major" || command -v clang-format) || fail "there is no clang-format: install clang-format-$major"
"$formatter" --version | grep -q "version $major\." || fail "$formatter is not of version $major"
cd "$root"
# Lists of macros without semicolons come out in another way each time.
unsettled=(':!tests/programs/*_functions.cu' ':!tests/programs/math_intrinsics.cu' ':!tests/programs/vector_types.cu'
  ':!tests/random_cuda/device.h' ':!tests/support/cuda_driver.h')
[ $# -gt 0 ] || mapfile -t files < <(git ls-files '*.cpp' '*.h' '*.cu' ':!include/cuda' "${unsettled[@]}")
printf '%s\0' "${@:-${files[@]}}" | xargs -0 -P "$(nproc)" -n 16 "$formatter" "${action[@]}"
