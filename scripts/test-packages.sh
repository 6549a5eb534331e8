#!/usr/bin/env bash
# Builds Mulciber's Debian packages in a clean chroot of each release, and uses them in another: installs them, runs programs
# on the release's own Vulkan driver, builds a project with find_package, and removes them again.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() {
  cat <<EOT
usage: scripts/test-packages.sh [--packages FOLDER] RELEASE...     as root; RELEASE: bookworm, trixie, noble
What is committed is built, or the packages in FOLDER are taken, which must be of that release. Logs and packages are left in packages/RELEASE, clean chroots in the cache folder.
EOT
}
given=
[ "${1:-}" != --packages ] || { given=${2:?--packages needs a folder}; shift 2; }
case ${1:-} in '' | -h | --help) usage; [ $# != 0 ]; exit ;; esac
[ "$(id -u)" = 0 ] || fail "chroots need root"
install_packages mmdebstrap debian-archive-keyring ubuntu-keyring

# clean_system RELEASE: an archive of its smallest system. mmdebstrap knows where each release comes from.
clean_system() {
  local archive=$cache/chroots/$1.tar components=main
  [ "$1" != noble ] || components=main,universe
  if [ ! -f "$archive" ]; then
    say "$1: making a clean system"
    mkdir -p "$cache/chroots"
    mmdebstrap --quiet --variant=minbase --components="$components" --include=apt,ca-certificates \
      "$1" "$archive.part.tar" || fail "mmdebstrap could not make $1"
    mv "$archive.part.tar" "$archive"
  fi
}

folder=
enter() {  # RELEASE: a fresh chroot in $folder
  leave
  folder=$(mktemp -d /var/tmp/mulciber-chroot.XXXXXX)
  clean_system "$1"
  tar -xf "$cache/chroots/$1.tar" -C "$folder"
  cp /etc/resolv.conf "$folder/etc/"
  mount -t proc proc "$folder/proc"
  mount --bind /dev "$folder/dev"
}
leave() {
  [ -n "$folder" ] || return 0
  local mounted
  for mounted in dev proc root/.cache/ccache; do ! mountpoint -q "$folder/$mounted" || umount -l "$folder/$mounted"; done
  rm -rf --one-file-system "$folder"
  folder=
}
trap leave EXIT
inside() { chroot "$folder" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
install() { inside sh -c "apt-get install -qqy --no-install-recommends $*"; }  # its files are named inside

build_packages() {
  enter "$1"
  say "$1: building the packages"
  mkdir -p "$folder/source" "$folder/root/.cache/ccache" "$cache/chroots/$1.ccache"
  mount --bind "$cache/chroots/$1.ccache" "$folder/root/.cache/ccache"  # the next build of this release compiles what changed
  git -C "$root" archive HEAD | tar -x -C "$folder/source"
  inside apt-get update -qq >>"$log" 2>&1
  inside /source/scripts/package.sh /packages >>"$log" 2>&1 || { tail -5 "$log" >&2; fail "$1: the packages could not be built; the log is $log"; }
  cp "$folder"/packages/*.deb "$folder"/packages/*.tar.gz "$out/"
}

step() {  # WHAT COMMAND...
  local what=$1
  shift
  if "$@" >>"$log" 2>&1; then say "$release: $what"; else tail -15 "$log" >&2; fail "$release: not so: $what; the log is $log"; fi
}

# use_project PREFIX-OF-MESSAGES FOLDER: a project of CMake and programs built by hand use the installation in FOLDER.
use_project() {
  step "$1a project finds the package and builds" \
    inside sh -c "rm -rf /work/built && cmake -S /work/consumer -B /work/built -DCMAKE_PREFIX_PATH='$2' && cmake --build /work/built"
  step "$1its translator works" inside /work/built/use_translator
  step "$1its CUDA libraries work" inside /work/built/use_cuda
  step "$1its engine works" inside /work/built/use_kernels
  # What pkg-config says is for a shell to read.
  step "$1pkg-config knows it" inside sh -ec 'cd /work
    export PKG_CONFIG_PATH="$(find "$1"/lib* -name mulciber.pc -printf %h)"
    eval "c++ -std=c++20 consumer/use_translator.cpp -o by_hand $(pkg-config --cflags --libs mulciber)"
    eval "c++ consumer/use_cuda.cpp -o by_hand_cuda $(pkg-config --cflags --libs mulciber-cuda)"' sh "$2"
  step "$1and what it says works" inside sh -ec 'LD_LIBRARY_PATH="$(find "$1"/lib* -name libmulciber.so -printf %h)" /work/by_hand
    /work/by_hand_cuda' sh "$2"
}

for release in "$@"; do
  out=$root/packages/$release log=$root/packages/$release/log
  mkdir -p "$out"
  : >"$log"
  rm -f "$out"/*.deb "$out"/*.tar.gz
  if [ -n "$given" ]; then cp "$given"/*.deb "$given"/*.tar.gz "$out/"; else build_packages "$release"; fi
  enter "$release"
  mkdir "$folder/work"
  cp "$out"/*.deb "$out"/*.tar.gz "$folder/work/"
  cp -r "$root/tests/package/consumer" "$root/examples/vector_add" "$folder/work/"
  from=()
  if [ "$release" = bookworm ]; then  # whose own Mesa is known to compute wrong results
    from=(-t bookworm-backports)
    sed -n 's/ bookworm main/ bookworm-backports main/p' "$folder/etc/apt/sources.list" >"$folder/etc/apt/sources.list.d/backports.list"
  fi
  step "package lists" inside apt-get update -qq
  step "the package installs" install "${from[@]}" "/work/mulciber_*.deb" mesa-vulkan-drivers
  step "the command finds the release's Vulkan driver" inside sh -c 'mulciber info | tee /dev/stderr | grep -i llvmpipe'
  step "the development package installs" install "/work/libmulciber-dev_*.deb" g++ cmake make pkg-config clang libvulkan-dev man-db \
    bash-completion zsh fish
  step "mulciberc++ builds a CUDA program" inside sh -c 'cd /work && mulciberc++ -O2 vector_add/vector_add.cu -o vector_add_program'
  step "it runs" inside sh -c '/work/vector_add_program | tee /dev/stderr | grep -v -i wrong'
  step "and under mulciber run" inside mulciber run --explain /work/vector_add_program
  use_project "" /usr
  step "its manual page is read" inside sh -c 'man mulciber | grep precompile'
  step "bash completes it" inside bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader mulciberc++; complete -p mulciberc++ | grep _mulciber'
  step "zsh completes it" inside zsh -fc 'autoload -Uz compinit; compinit -D -u; [[ $_comps[mulciber]$_comps[mulciberc++] = _mulciber_mulciber ]]'
  step "fish completes it" inside fish -c 'complete -C "mulciber run mulciber tr" | grep translate; and complete -C "mulciberc++ -arch sm_8" | grep sm_86'
  step "the packages are removed" inside apt-get purge -qqy mulciber libmulciber-dev
  step "and leave nothing" inside sh -c '! find / -xdev -path /root -prune -o -path /work -prune -o -path /proc -prune -o -iname "*mulciber*" -print | grep -v /var/cache | grep .'
  place="/opt/some place"
  step "the tarball is unpacked" inside sh -c "mkdir '$place' && tar -xzf /work/mulciber-*.tar.gz -C '$place' --strip-components=1"
  step "its command runs a program" inside "$place/bin/mulciber" run /work/vector_add_program
  step "its mulciberc++ builds one" inside sh -c "cd /work && '$place/bin/mulciberc++' vector_add/vector_add.cu -o another && ./another"
  use_project "the tarball: " "$place"
  leave
done
say "all is well: $*"
