#!/usr/bin/env bash
# Builds Zydis, the x86 disassembler, as a static library: libmulciber_audit.so enters every program that `mulciber run`
# starts and must bring no library along, and distributions have Zydis as a shared one only.
# usage: build.sh [PREFIX]     a few seconds; does nothing when PREFIX already holds it
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"
release=4.1.1
prefix=${1:-$cache/zydis-$release}
[ -f "$prefix/complete" ] && { echo "$prefix"; exit 0; }

zydis=$release-1 zycore=1.5.2-1
if [[ $(distribution) == ubuntu-* ]]; then  # 24.04 has Zydis 4.0.0, in which all is that is used here
  add_sources release deb-src "$(. /etc/os-release && echo "$VERSION_CODENAME")"
  zydis='' zycore=''
else
  add_pinned_sources || fail "this distribution has no source package of Zydis $release; configure with -DMULCIBER_FETCH=ON instead"
fi
install_packages gcc cmake ninja-build dpkg-dev >&2
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
say "building Zydis (a few seconds, once)"
fetch_source zydis "$zydis"
fetch_source zycore-c "$zycore"
cmake -S zydis -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_VISIBILITY_PRESET=hidden -DZYAN_ZYCORE_PATH="$work/zycore-c" \
  -DZYDIS_BUILD_TOOLS=OFF -DZYDIS_BUILD_EXAMPLES=OFF -DZYDIS_BUILD_DOXYGEN=OFF -DZYDIS_BUILD_MAN=OFF \
  -DZYDIS_FEATURE_FORMATTER=OFF -DZYDIS_FEATURE_ENCODER=OFF >cmake.log 2>&1 \
  || { tail -30 cmake.log >&2; fail "configuring Zydis failed"; }
ninja -C build install >ninja.log 2>&1 || { tail -30 ninja.log >&2; fail "building Zydis failed"; }
cp -r zycore-c/include/Zycore "$prefix/include/"
touch "$prefix/complete"
echo "$prefix"
