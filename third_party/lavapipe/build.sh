#!/usr/bin/env bash
# Builds Mesa's CPU Vulkan driver with subgroups of 32 lanes, a CUDA warp's width, from the distribution's source.
# usage: build.sh [PREFIX]     about 5 minutes on 2 cores; does nothing when PREFIX already holds it
# Prints the driver file to name in VK_DRIVER_FILES; run with LP_NATIVE_VECTOR_WIDTH=1024. See README.md beside this.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
mesa=25.0.7
prefix=${1:-$cache/lavapipe-$mesa-$(cat "$here"/*.patch | sha256sum | cut -c1-8)}
[ -f "$prefix/lvp_icd.json" ] && { echo "$prefix/lvp_icd.json"; exit 0; }

add_pinned_sources || fail "the 32-lane driver is built from Debian's Mesa $mesa, which this distribution does not have; use --stock-driver"
if [ "$(distribution)" = debian-bookworm ]; then
  add_sources backports deb bookworm-backports
  install_packages -t bookworm-backports meson libdrm-dev
fi
install_packages g++ ninja-build meson libdrm-dev llvm-19-dev bison flex patch dpkg-dev glslang-tools \
  python3-mako python3-packaging python3-yaml zlib1g-dev libzstd-dev pkg-config

say "building Mesa $mesa with 32-lane subgroups (about 5 minutes, once)"
export PATH=/usr/sbin:/usr/bin:/sbin:/bin  # the distribution's Python, which has Mesa's modules
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
version=$(apt-cache showsrc mesa | awk -v v="$mesa" '/^Version:/ && index($2, v) == 1 {print $2}' | sort -V | tail -1)
fetch_source mesa "$version"
for p in "$here"/*.patch; do patch -s -d mesa -p1 <"$p"; done
printf "[binaries]\nllvm-config='/usr/bin/llvm-config-19'\n" >llvm.ini
meson setup build mesa --native-file llvm.ini --prefix="$prefix" --libdir=lib --buildtype=release \
  -Dvulkan-drivers=swrast -Dgallium-drivers=llvmpipe -Dplatforms= -Dglx=disabled -Degl=disabled -Dopengl=false \
  -Dgles1=disabled -Dgles2=disabled -Dgbm=disabled -Dglvnd=disabled -Dshared-glapi=disabled -Dosmesa=false \
  -Dllvm=enabled -Dshared-llvm=enabled -Dvalgrind=disabled -Dlibunwind=disabled -Dlmsensors=disabled -Dxmlconfig=disabled \
  -Dexpat=disabled -Dgallium-vdpau=disabled -Dgallium-va=disabled -Dgallium-xa=disabled -Dbuild-tests=false \
  -Dvulkan-layers= -Dtools= -Dvideo-codecs= >meson.log 2>&1 || { tail -20 meson.log >&2; fail "configuring Mesa failed"; }
ninja -C build >ninja.log 2>&1 || { tail -20 ninja.log >&2; fail "building Mesa failed"; }
ninja -C build install >install.log 2>&1
printf '{"file_format_version":"1.0.0","ICD":{"library_path":"%s","api_version":"1.4.305"}}\n' \
  "$prefix/lib/libvulkan_lvp.so" >"$prefix/lvp_icd.json"
echo "$prefix/lvp_icd.json"
