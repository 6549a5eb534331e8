#!/usr/bin/env bash
# Makes a release of what is committed: checks that version and changelog agree, tests, makes and tries the packages and the
# wheel, and tags.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<EOT
usage: scripts/release.sh [--check]     as root, for the chroots in which packages are tried
Packages and the wheel are left in packages/VERSION. Nothing is published.
  --check   only say whether a release could be made
EOT
}
only_check=
case ${1:-} in
  -h | --help) usage; exit ;;
  --check) only_check=yes ;;
  '') ;;
  *) usage >&2; exit 2 ;;
esac

part() { sed -n "s/^#define MULCIBER_VERSION_$1 \([0-9]*\)$/\1/p" "$root/include/mulciber/version.h"; }
version=$(part MAJOR).$(part MINOR).$(part PATCH)
cd "$root"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
heading=$(sed -n 's/^## //p' CHANGELOG.md | head -1)
case $heading in
  "$version ("20[0-9][0-9]-[01][0-9]-[0-3][0-9]")") ;;
  *) fail "the first heading of CHANGELOG.md is '## $heading', not '## $version (DATE)' with the date as 2026-11-23" ;;
esac
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "v$version is there already: raise the version in include/mulciber/version.h"
[ -z "$only_check" ] || { say "$version can be released"; exit; }

scripts/ci.sh all
scripts/test-packages.sh bookworm trixie noble
mkdir -p "packages/$version"
scripts/package.sh "packages/$version"
scripts/wheel.sh "packages/$version"
git tag -a "v$version" -m "Mulciber $version"
say "v$version is tagged; to publish it: git push origin v$version, and what is in packages/$version"
