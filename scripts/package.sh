#!/usr/bin/env bash
# Makes the Debian packages and the tarball of Mulciber, and checks the packages with lintian.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in
  -h | --help) echo "usage: scripts/package.sh [FOLDER]     (default: packages/)"; exit 0 ;;
  -*) fail "unknown option $1" ;;
esac
out=${1:-$root/packages}

prepare_build
install_packages dpkg-dev lintian
log=$(mktemp)
say "building"
{ cmake -S "$root" -B "$root/build-package" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DMULCIBER_ZSH_COMPLETIONS=share/zsh/vendor-completions -DMULCIBER_TESTS=OFF -DMULCIBER_BENCH=OFF -DMULCIBER_EXAMPLES=OFF &&
  cmake --build "$root/build-package"; } >"$log" 2>&1 || { tail -30 "$log" >&2; fail "the build failed; the log is $log"; }
mkdir -p "$out"
cpack --config "$root/build-package/CPackConfig.cmake" -B "$out" >"$log" 2>&1 || { tail -30 "$log" >&2; fail "cpack failed; the log is $log"; }
rm -rf "$out/_CPack_Packages"
# Debian has no bug that asks for the package, CPack's scripts call ldconfig themselves, and the package has the name of the
# command in it, not of the library.
accepted=initial-upload-closes-no-bugs,maintscript-calls-ldconfig,package-name-doesnt-match-sonames
lintian --allow-root --fail-on error,warning --suppress-tags "$accepted" "$out"/*.deb || fail "lintian has found errors or warnings"
say "$(cd "$out" && ls -- *.deb *.tar.gz | tr '\n' ' ')in $out"
