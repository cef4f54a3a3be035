#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every fuzz target for a while: fuzz.sh [SECONDS] [COMPONENT/NAME...]; default 10 seconds, all.
# tests/COMPONENT/NAME_fuzz.cpp starts from the seeds in tests/COMPONENT/corpus/NAME, which are not
# changed. A crash prints the input in base64. `./dev build asan` builds the targets.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

seconds=${1:-10}
shift || true
targets=("$@")
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(git ls-files --cached --others --exclude-standard 'tests/*_fuzz.cpp' |
    sed 's|^tests/||; s|_fuzz\.cpp$||')
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fuzz COMPONENT/NAME: writes work/COMPONENT_NAME.log; false on a crash or without seeds.
fuzz() {
  local component=${1%/*} name=${1##*/}
  local seeds=tests/$component/corpus/$name id=${component}_$name
  local program=build/asan/fuzz/${id}_fuzz
  if [[ ! -x $program ]]; then
    echo "no program $program (./dev build asan)" >"$work/$id.log"
    return 1
  fi
  if [[ -z $(ls -A "$seeds" 2>/dev/null) ]]; then
    echo "no seeds in $seeds" >"$work/$id.log"
    return 1
  fi
  mkdir -p "$work/$id" # new inputs go here
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$work/$id.crash-" "$work/$id" "$seeds" >"$work/$id.log" 2>&1 || return 1
  # A target that never gets past its first inputs tests nothing.
  (($(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$id.log") > 100))
}

failed=0
running=()
names=()
finish_oldest() {
  local id=${names[0]/\//_}
  if wait "${running[0]}"; then
    echo "fuzz: ${names[0]}: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$id.log") inputs"
  else
    echo "FAILED: ${names[0]}"
    tail -n 40 "$work/$id.log"
    for crash in "$work/$id".crash-*; do
      if [[ -f $crash ]]; then echo "input in base64: $(base64 -w0 "$crash")"; fi
    done
    failed=$((failed + 1))
  fi
  running=("${running[@]:1}")
  names=("${names[@]:1}")
}
for target in "${targets[@]}"; do
  fuzz "$target" &
  running+=("$!")
  names+=("$target")
  if ((${#running[@]} >= $(nproc))); then finish_oldest; fi
done
while ((${#running[@]})); do finish_oldest; done
echo "fuzz: $((${#targets[@]} - failed)) targets hold, $failed fail"
((failed == 0 && ${#targets[@]} > 0))
