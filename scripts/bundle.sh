#!/usr/bin/env bash
# Makes one folder that runs Mulciber on a machine with nothing but a Vulkan driver: programs, libraries, the Vulkan
# loader, tests, benchmarks and their data, and run.sh.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in
  -h | --help) echo "usage: scripts/bundle.sh [FOLDER]     (default: bundle/)"; exit 0 ;;
  -*) fail "unknown option $1" ;;
esac
out=${1:-$root/bundle}
limit=100  # megabytes

prepare_build
install_packages libglvnd0 libegl1 libglx0 libgl1 libopengl0 libgles2 libx11-6 libxext6
build release
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/system" "$out/tests"
say "collecting into $out"
cp "$root"/build/bin/{mulciber,bench_translation,vector_add_*,stress,api_replay,random_graphs} "$out/bin/"
# Tests that run on a device: the others say the same wherever they run.
for area in $(ctest --test-dir "$root/build" -N -L vulkan | sed -n 's/^ *Test *#[0-9]*: //p'); do
  [ ! -x "$root/build/bin/test_$area" ] || cp "$root/build/bin/test_$area" "$out/bin/"
done
for folder in programs bench; do
  [ ! -d "$root/build/bin/$folder" ] || cp -r "$root/build/bin/$folder" "$out/bin/"
done
cp -r "$root"/bench/{compare.py,chart.py,programs} "$out/bin/bench/"
find "$root/build/lib" -name '*.so*' -exec cp -a -t "$out/lib" {} +
# The CUDA programs keep the names of their static runtime: `mulciber run` finds it by them.
find "$out/lib" "$out/bin" -maxdepth 1 -type f ! -name vector_add_static -exec strip --strip-unneeded {} + 2>/dev/null || true
find "$out/bin/bench" "$out/bin/programs" "$out/bin/vector_add_static" -type f -executable -exec strip --strip-unneeded -w -K 'cuda*' -K '__cuda*' {} + 2>/dev/null || true

# Test data, at the same relative places.
for area in "$root"/tests/*/; do
  name=$(basename "$area")
  [ "$name" != fuzz ] || continue  # of programs that are not in here
  data=$(find "$area" -type f ! -name '*.cpp' ! -name '*.h' -print -quit)
  [ -z "$data" ] || (cd "$root/tests" && find "$name" -type f ! -name '*.cpp' ! -name '*.h' -exec cp --parents -t "$out/tests" {} +)
done

# Libraries of the distribution that our programs load, without the C library, which every system has.
for binary in "$out"/bin/* "$out"/lib/*.so*; do
  { ldd "$binary" 2>/dev/null || true; } | awk '$3 ~ /^\// {print $3}'
done | sort -u | grep -vE "^($root|$(realpath "$out"))/|/(libc|libm|libdl|libpthread|librt|libcuda|libcudart|ld-linux-x86-64|libgcc_s|libstdc\+\+)\.so" |
  while read -r library; do cp -L "$library" "$out/system/"; done
loader=$(ldconfig -p | awk '/libvulkan\.so\.1 .*x86-64/ && !found++ {print $NF}')
cp -L "$loader" "$out/system/libvulkan.so.1"
# NVIDIA's Vulkan driver loads these, and a machine without a desktop may not have them.
for library in libGLdispatch.so.0 libEGL.so.1 libGLX.so.0 libGL.so.1 libOpenGL.so.0 libGLESv2.so.2 libX11.so.6 libXext.so.6 libxcb.so.1 libXau.so.6 libXdmcp.so.6 libbsd.so.0 libmd.so.0; do
  cp -L "$(ldconfig -p | awk -v l="$library" '$1 == l && /x86-64/ && !found++ {print $NF}')" "$out/system/"
done
cp "$root/scripts/bundle-run.sh" "$out/run.sh"
cp "$root/LICENSE" "$out/"
size=$(du -sm "$out" | cut -f1)
[ "$size" -lt "$limit" ] || fail "the bundle has $size MB, over its limit of $limit MB"
say "$out: $size MB; on the other machine: ./run.sh tests|bench|demo"
