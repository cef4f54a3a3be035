#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes every generated file of the tree anew; with --check compares instead and fails on a
# difference. A generator is one line below: the file, and the command whose output it is.
set -euo pipefail
cd "$(dirname "$0")/.."

assay=build/release/bin/assay
generators=(
  "docs/commands.md|$assay help --markdown"
  "docs/operators.md|tools/operators.py $assay"
)

[[ -x $assay ]] || { echo "error: $assay is not built" >&2 && echo "hint: ./dev build" >&2 && exit 1; }
made=$(mktemp)
trap 'rm -f "$made"' EXIT
stale=0
for generator in "${generators[@]}"; do
  file=${generator%%|*}
  bash -c "${generator#*|}" >"$made"
  if [[ ${1:-} == --check ]]; then
    diff -u --label "$file" --label "$file, made anew" "$file" "$made" || stale=$((stale + 1))
  else
    cp "$made" "$file"
  fi
done
if ((stale)); then
  echo "error: $stale generated files differ from what the program says" >&2
  echo "hint: tools/regenerate.sh writes them anew" >&2
  exit 1
fi
echo "generated files: ${#generators[@]} agree"
