#!/usr/bin/env bash
# Builds SPIRV-Tools, and brings the Vulkan and SPIR-V headers that go with it, where the distribution's own are too
# old: from the source packages of Debian's next release, or of Ubuntu's updates.
# usage: build.sh [PREFIX]     about 3 minutes on 2 cores; does nothing when PREFIX already holds it
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"
sdk=1.4.309.0
prefix=${1:-$cache/khronos-$sdk}
[ -f "$prefix/complete" ] && { echo "$prefix"; exit 0; }

finish() { touch "$prefix/complete" && echo "$prefix" && exit 0; }

mkdir -p "$prefix/include"
install_packages dpkg-dev >&2
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"

# Ubuntu updates SPIRV-Tools and Mesa within a release, and Mesa brings the Vulkan headers it is built with.
if [[ $(distribution) == ubuntu-* ]]; then
  say "the system's Vulkan headers are too old: taking those of the distribution's Mesa"
  add_sources sources deb-src "$(. /etc/os-release && echo "$VERSION_CODENAME")-updates"
  fetch_source mesa
  cp -r mesa/include/vulkan mesa/include/vk_video "$prefix/include/"
  finish
fi

say "the system's Vulkan headers and SPIRV-Tools are too old: building newer ones (about 3 minutes, once)"
add_pinned_sources || fail "this distribution has no newer release to build SPIRV-Tools from; configure with -DMULCIBER_FETCH=ON instead"
install_packages g++ cmake ninja-build python3 >&2
fetch_source vulkan-loader "$sdk-1"
fetch_source spirv-headers "1.6.1+$sdk-1"
fetch_source spirv-tools "2025.1~rc1-1"

cp -r vulkan-loader/vulkan-headers/include/. "$prefix/include/"
cp -r spirv-headers/include/. "$prefix/include/"
launcher=(); command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake -S spirv-tools -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden \
  -DSPIRV-Headers_SOURCE_DIR="$work/spirv-headers" -DSPIRV_SKIP_TESTS=ON -DSPIRV_WERROR=OFF "${launcher[@]}" \
  >cmake.log 2>&1 || { tail -30 cmake.log >&2; fail "configuring SPIRV-Tools failed"; }
ninja -C build SPIRV-Tools-static spirv-as spirv-dis spirv-val >ninja.log 2>&1 || { tail -30 ninja.log >&2; fail "building SPIRV-Tools failed"; }
mkdir -p "$prefix/lib" "$prefix/bin" "$prefix/include/spirv-tools"
cp build/source/libSPIRV-Tools.a "$prefix/lib/"
cp build/tools/spirv-{as,dis,val} "$prefix/bin/"
cp spirv-tools/include/spirv-tools/libspirv.h spirv-tools/include/spirv-tools/libspirv.hpp "$prefix/include/spirv-tools/"
finish
