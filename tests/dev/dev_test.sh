#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests of ./dev's set-up on a copy of it with its own tables and hand-made wheels. No network.
set -uo pipefail

source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
failures=0

check() {  # check SENTENCE COMMAND...
  local sentence=$1
  shift
  if "$@"; then
    echo "ok: $sentence"
  else
    echo "FAILED: $sentence"
    echo "  the last run exited $code and said:"
    sed 's/^/  | /' "$work/said"
    failures=$((failures + 1))
  fi
}

fresh() {  # a new copy of the tree, an empty home, no packages wanted
  chmod -R u+w "$work/tree" "$work/home" 2>/dev/null
  rm -rf "${work:?}/tree" "${work:?}/home" "${work:?}/wheels"
  mkdir -p "$work/tree/tools" "$work/home" "$work/wheels"
  cp "$source_root/dev" "$work/tree/"
  cp "$source_root/tools/unpack_wheel.py" "$work/tree/tools/"
  : >"$work/tree/tools/packages.txt"
  : >"$work/tree/tools/wheels.tsv"
}

wheel() {  # wheel VERSION BYTES: toy-VERSION.whl with three members; prints its SHA-256
  python3 - "$work/wheels/toy-$1-py3-none-any.whl" "$1" "$2" <<'PYTHON'
import sys, zipfile
path, version, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("toy/lib/a.so", b"a" * size)
    archive.writestr("toy/lib/b_cuda.so", b"b")
    archive.writestr("toy/readme.txt", version)
    meta = f"Metadata-Version: 2.1\nName: toy\nVersion: {version}\n"
    archive.writestr(f"toy-{version}.dist-info/METADATA", meta)
    archive.writestr(f"toy-{version}.dist-info/WHEEL",
                     "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    archive.writestr(f"toy-{version}.dist-info/RECORD", "")
PYTHON
  sha256sum "$work/wheels/toy-$1-py3-none-any.whl" | cut -d' ' -f1
}

row() {  # row SECTION VERSION SHA256 INCLUDE: one row of the table
  printf '%s\ttoy\t%s\tengines/toy\ttoy/\t%s\t%s\n' "$@" >>"$work/tree/tools/wheels.tsv"
}

dev() {  # dev [VARIABLE=VALUE...] -- ARGUMENT...: runs the copy; sets code, writes $work/said
  local -a settings=()
  while [[ $1 != -- ]]; do settings+=("$1") && shift; done
  shift
  env -u PIP_INDEX_URL ASSAY_HOME="$work/home" PIP_NO_INDEX=1 PIP_FIND_LINKS="$work/wheels" \
    ${settings[@]+"${settings[@]}"} ${as_user[@]+"${as_user[@]}"} \
    bash "$work/tree/dev" "$@" >"$work/said" 2>&1
  code=$?
}

said() { grep -q -- "$1" "$work/said"; }
clean_home() { [[ -z $(find "$work/home" -name '*.part.*') ]]; }
exited() { [[ $code == "$1" ]]; }
toy=$work/home/engines/toy
as_user=()

unpacks_what_the_table_names() {
  fresh
  row base 1.0 "$(wheel 1.0 10)" '*.so toy/readme.txt !*_cuda.so'
  dev -- setup
  check "set-up succeeds" exited 0
  check "wanted members are there, without the prefix" test -f "$toy/lib/a.so" -a -f "$toy/readme.txt"
  check "excluded members are not" test ! -e "$toy/lib/b_cuda.so"
  check "members not named are not" test ! -e "$toy/toy-1.0.dist-info"
  local before
  before=$(stat -c %i "$toy")
  rm -rf "$work/wheels"
  dev -- setup
  check "a second set-up has nothing to do and needs no wheel" exited 0
  check "and leaves the folder alone" test "$(stat -c %i "$toy")" = "$before"
}

cuda_adds_and_stays() {
  fresh
  local sha256
  sha256=$(wheel 1.0 10)
  row base 1.0 "$sha256" '*.so !*_cuda.so'
  row cuda 1.0 "$sha256" '*_cuda.so'
  dev -- setup
  check "without --cuda no CUDA library" test ! -e "$toy/lib/b_cuda.so"
  dev -- setup --cuda
  check "--cuda adds its libraries" test -f "$toy/lib/a.so" -a -f "$toy/lib/b_cuda.so"
  dev -- setup
  check "a later plain set-up keeps them" test -f "$toy/lib/b_cuda.so"
}

refuses_a_wrong_hash() {
  fresh
  wheel 1.0 10 >/dev/null
  row base 1.0 "$(printf '0%.0s' {1..64})" '*.so'
  dev -- setup
  check "a wheel with a wrong hash is an error" exited 1
  check "which says so" said '^error: toy 1.0 has the wrong SHA-256'
  check "with a hint" said '^hint: '
  check "nothing is unpacked" test ! -e "$toy"
  check "the file is gone" clean_home
}

keeps_the_old_folder_on_failure() {
  fresh
  row base 1.0 "$(wheel 1.0 10)" '*'
  dev -- setup
  : >"$work/tree/tools/wheels.tsv"
  wheel 2.0 10 >/dev/null
  row base 2.0 "$(printf '1%.0s' {1..64})" '*'
  dev -- setup
  check "a failed update is an error" exited 1
  check "and the old folder still stands" grep -q 1.0 "$toy/readme.txt"
  : >"$work/tree/tools/wheels.tsv"
  row base 2.0 "$(wheel 2.0 10)" '*'
  dev -- setup
  check "a good update replaces it" grep -q 2.0 "$toy/readme.txt"
  check "and leaves nothing beside it" clean_home
}

refuses_a_wheel_that_is_not_as_described() {
  fresh
  row base 1.0 "$(wheel 1.0 10)" 'toy/lib/missing.so'
  dev -- setup
  check "a pattern without a match is an error" exited 1
  check "which names it" said 'no member matches toy/lib/missing.so'
  check "nothing is unpacked then" test ! -e "$toy"
  fresh
  wheel 1.0 10 >/dev/null
  # Keeps the directory at the end of the archive, so that pip still sees a wheel.
  printf 'XXXXXXXXXXXXXXXX' | dd of="$work/wheels/toy-1.0-py3-none-any.whl" conv=notrunc 2>/dev/null
  row base 1.0 "$(sha256sum "$work"/wheels/*.whl | cut -d' ' -f1)" '*'
  dev -- setup
  check "a damaged wheel is an error" exited 1
  check "and nothing is unpacked of it" test ! -e "$toy"
}

explains_a_missing_network() {
  fresh
  row base 1.0 "$(wheel 1.0 10)" '*'
  dev PIP_NO_INDEX=0 PIP_FIND_LINKS= PIP_INDEX_URL=http://127.0.0.1:9/simple -- setup
  check "no network is an error" exited 1
  check "with a hint" said '^hint: is there a network'
  check "and leaves nothing" clean_home
}

explains_missing_packages() {
  fresh
  echo "assay-no-such-package" >"$work/tree/tools/packages.txt"
  mkdir -p "$work/bin"
  printf '#!/bin/sh\necho "E: Unable to locate package"\nexit 100\n' >"$work/bin/apt-get"
  chmod 755 "$work/bin/apt-get"
  if ((EUID == 0)); then
    dev PATH="$work/bin:$PATH" -- setup
    check "a package that cannot be installed is an error" exited 1
    check "with apt's own words" said 'E: Unable to locate package'
    as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod 777 "$work/home"
  fi
  dev PATH="$work/bin:$PATH" -- setup
  check "a missing package is an error for a plain user" exited 1
  check "with the command that mends it" \
    said '^hint: sudo apt-get install --no-install-recommends assay-no-such-package'
  dev ASSAY_SKIP_PACKAGES=1 -- setup
  check "ASSAY_SKIP_PACKAGES leaves packages alone" exited 0
  fresh
  chmod 555 "$work/home"
  dev -- setup
  if ((EUID == 0 && ${#as_user[@]} == 0)); then return; fi
  check "a home that cannot be written is an error" exited 1
  check "with a hint" said '^hint: set ASSAY_HOME'
  as_user=()
}

# in_own_mounts SCRIPT: runs it where mounts are private; false where that is not allowed.
in_own_mounts() { unshare --mount bash -c "$1"; }

explains_a_full_disk() {
  fresh
  row base 1.0 "$(wheel 1.0 3000000)" '*'
  local mount="mount -t tmpfs -o size=1m none '$work/home'"
  if ! in_own_mounts "$mount" 2>/dev/null; then
    echo "skipped: a full disk (mounting is not allowed here)"
    return
  fi
  in_own_mounts "$mount && ASSAY_HOME='$work/home' PIP_NO_INDEX=1 PIP_FIND_LINKS='$work/wheels' \
    bash '$work/tree/dev' setup >'$work/said' 2>&1; code=\$?; ls -A '$work/home/engines' \
    >'$work/left'; exit \$code"
  code=$?
  check "a full disk is an error" exited 1
  check "with a hint" said '^hint: free some space'
  check "and leaves nothing" test ! -s "$work/left"
}

explains_another_distribution() {
  fresh
  printf 'ID=other\nVERSION_ID=1\n' >"$work/os-release"
  local mount="mount --bind '$work/os-release' /etc/os-release"
  if ! in_own_mounts "$mount" 2>/dev/null; then
    echo "skipped: another distribution (mounting is not allowed here)"
    return
  fi
  in_own_mounts "$mount && ASSAY_HOME='$work/home' bash '$work/tree/dev' setup >'$work/said' 2>&1"
  code=$?
  check "another distribution is an error" exited 1
  check "with a hint" said '^hint: .*ASSAY_SKIP_PACKAGES=1'
}

the_real_tables_are_well_formed() {
  fresh
  check "every row of tools/wheels.tsv has its seven columns and a hash" awk -F '\t' \
    '!/^#/ && (NF != 7 || $1 !~ /^(base|cuda|test)$/ || length($6) != 64 || $6 ~ /[^0-9a-f]/) { bad = 1 } END { exit bad }' \
    "$source_root/tools/wheels.tsv"
  check "every package has a known section" awk \
    '!/^(#|$)/ && NF > 1 && $2 !~ /^(#|build$|test$|lint$|bench$)/ { bad = 1 } END { exit bad }' \
    "$source_root/tools/packages.txt"
}

refuses_wrong_use() {
  fresh
  dev -- frobnicate
  check "an unknown command is an error" exited 1
  check "which names it and the right ones" said 'unknown command: frobnicate'
  dev -- build fast
  check "an unknown preset is an error" exited 1
  dev -- setup --rocm
  check "an unknown argument is an error" exited 1
  dev -- --help
  check "--help explains" exited 0
}

code=0
: >"$work/said"
unpacks_what_the_table_names
cuda_adds_and_stays
refuses_a_wrong_hash
keeps_the_old_folder_on_failure
refuses_a_wheel_that_is_not_as_described
explains_a_missing_network
explains_missing_packages
explains_a_full_disk
explains_another_distribution
the_real_tables_are_well_formed
refuses_wrong_use
((failures == 0)) || { echo "$failures checks failed" && exit 1; }
