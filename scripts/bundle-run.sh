#!/usr/bin/env bash
# Runs what this folder holds on the Vulkan device of this machine.
#   ./run.sh tests [AREA...]   every test program, or those named
#   ./run.sh bench [NAME...]   native CUDA and Mulciber side by side: a table, performance.json, .md and .svg here
#                              (the sweeps of single operations, operations_*, run only where they are named)
#   ./run.sh record            what the differential programs print natively, into ./expected
#   ./run.sh demo              a CUDA program on Vulkan
set -u
here=$(cd "$(dirname "$0")" && pwd)
export MULCIBER_TEST_DATA_DIR=$here/tests LD_LIBRARY_PATH=$here/system${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
seconds=${MULCIBER_TEST_SECONDS:-300}  # of processor time
watch() { python3 "$here/tests/tools/watch.py" --processor "$seconds" "$@"; }

# NVIDIA's driver in containers is not always where the loader looks.
nvidia=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -z "${VK_DRIVER_FILES:-}" ] && [ -f "$nvidia" ]; then export VK_DRIVER_FILES=$nvidia; fi

run_tests() {
  local failed=() passed=0 areas=("$@") area log status
  [ $# -gt 0 ] || areas=($(cd "$here/bin" && ls -d test_* | sed 's/^test_//'))
  log=$(mktemp -d)
  for area in "${areas[@]}"; do
    # Ours before a system's libcuda.so.1.
    LD_LIBRARY_PATH=$here/lib:$LD_LIBRARY_PATH watch "$here/bin/test_$area" >"$log/$area" 2>&1
    status=$?
    summary=$(grep -E '^\[  (PASSED|FAILED|SKIPPED) *\] [0-9]+ test' "$log/$area" | tr -s ' ' | tr '\n' ' ')
    if [ $status = 0 ]; then passed=$((passed + 1)); else
      failed+=("$area")
      grep -E '^\[  FAILED' "$log/$area" | sort -u | head -20
      grep -E 'Failure|terminate' -A4 "$log/$area" | head -60
      [ $status != 124 ] || tail -1 "$log/$area"
    fi
    printf '%-12s %s %s\n' "$area" "$([ $status = 0 ] && echo ok || echo "FAILED ($status)")" "$summary"
    grep -hoE 'skipped: .*' "$log/$area" | sort | uniq -c | sort -rn | head -3
  done
  echo "areas: $passed passed, ${#failed[@]} failed"
  [ ${#failed[@]} = 0 ]
}

case ${1:-} in
  tests) shift; run_tests "$@" ;;
  bench)
    shift
    [ $# -gt 0 ] || set -- streaming numeric integer irregular matrices libraries overheads
    python3 "$here/bin/bench/compare.py" "$here/bin/mulciber" "${@/#/$here/bin/bench/}" \
      --json performance.json --markdown performance.md --svg performance.svg ;;
  record)
    mkdir -p expected
    for program in "$here"/bin/programs/*; do
      watch "$program" >"expected/$(basename "$program").txt" || echo "$(basename "$program") failed"
    done ;;
  demo)
    "$here/bin/mulciber" info
    for program in "$here"/bin/vector_add_*; do
      echo "mulciber run $(basename "$program")"
      watch "$here/bin/mulciber" run "$program" || exit
    done ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
