#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A bare Debian 12 (debootstrap minbase plus git and ca-certificates) with a clean clone of the
# current commit and an empty ASSAY_HOME, to see that `./dev` needs nothing else.
#
# usage: tools/bare_root.sh FOLDER [COMMAND]
#   FOLDER   the root; made if missing (about 300 MB), its packages stay, the clone is made anew
#   COMMAND  what to run in the clone; default: ./dev setup && ./dev build
# Needs root and debootstrap. BARE_ROOT_FRESH=1 makes the root anew, too.
set -euo pipefail

(($# >= 1 && $# <= 2)) || { sed -n 's/^# \?//; 7,10p' "$0" >&2 && exit 2; }
((EUID == 0)) || { echo "error: only root can make a root" >&2 && exit 1; }
command -v debootstrap >/dev/null || {
  echo "error: debootstrap is missing" >&2
  echo "hint: apt-get install debootstrap" >&2
  exit 1
}

source_root=$(cd "$(dirname "$0")/.." && pwd)
root=$(realpath -m "$1")
command=${2:-./dev setup && ./dev build}

make_root() {
  echo "bare_root: making $root"
  rm -rf "$root.part"
  debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root.part" >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2 && exit 1; }
  mv "$root.part" "$root"
}

unmount_all() {
  local point
  for point in dev/shm dev/pts dev sys proc; do
    if mountpoint -q "$root/$point"; then umount "$root/$point"; fi
  done
}
trap unmount_all EXIT

if [[ ${BARE_ROOT_FRESH:-} == 1 ]]; then rm -rf --one-file-system "$root"; fi
[[ -d $root ]] || make_root
# The root resolves names and trusts certificates as this machine does.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/hosts "$root/etc/hosts"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sys "$root/sys"
mount --bind /dev "$root/dev"
mkdir -p "$root/dev/shm"
mountpoint -q "$root/dev/shm" || mount -t tmpfs shm "$root/dev/shm"

rm -rf "$root/root/assay" "$root/root/home"
git clone -q --no-hardlinks "$source_root" "$root/root/assay"
echo "bare_root: running in a clean clone: $command"
# shellcheck disable=SC2086
env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" ASSAY_HOME=/root/home \
  ${http_proxy:+http_proxy=$http_proxy} ${https_proxy:+https_proxy=$https_proxy} \
  chroot "$root" bash -c "cd /root/assay && time { $command; }"
