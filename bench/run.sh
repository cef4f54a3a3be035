#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Races and own cost: ./dev bench [race|onnx|cost|start|build] [ARGUMENT...]. Without a name: race,
# onnx, cost and start. docs/performance.md says how the numbers are taken.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release
out=$root/build/bench

target() { ninja -C "$build" "$1" >&2; }

race() {
  target assay_racer
  target engine_torch
  local python=${ASSAY_PEER_PYTHON:?"the peer's Python; ./dev bench installs it (bench/peers/requirements.txt)"}
  ASSAY_ENGINES="$build/lib/assay/engines" \
    "$python" "$root/bench/race.py" --racer "$build/bin/assay_racer" --python "$python" \
    --out "$out/race" "$@"
}

onnx() {
  target assay_onnx_racer
  local python=${ASSAY_PEER_PYTHON:?"the peer's Python; ./dev bench installs it (bench/peers/requirements.txt)"}
  "$python" "$root/bench/onnx_race.py" --racer "$build/bin/assay_onnx_racer" --python "$python" \
    --files "$out/onnx" --out "$out/onnx" "$@"
}

cost() {
  target bench_own_cost
  "$build/bench/bench_own_cost" "$@"
}

# Wall time of a command that must be quick, the smallest and the median of 20.
quick() {
  python3 - "$@" <<'PY'
import statistics, subprocess, sys, time
name, bar, *command = sys.argv[1:]
times = []
for _ in range(20):
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    times.append(1e3 * (time.perf_counter() - begin))
print(f"| {name} | {min(times):.1f} ms | {statistics.median(times):.1f} ms | {bar} |")
PY
}

start() {
  echo "| command | smallest of 20 | median | bar |"
  echo "|---|---|---|---|"
  quick "assay --help" "20 ms" "$build/bin/assay" --help
  quick "assay list" "50 ms" "$build/bin/assay" list
}

# From nothing, without ccache, in a folder of its own.
build_time() {
  local folder
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  local begin=$SECONDS
  CCACHE_DISABLE=1 cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  CCACHE_DISABLE=1 ninja -C "$folder" program >/dev/null
  echo "build from nothing: $((SECONDS - begin)) s on $(nproc) cores (bar 360 s)"
  local again
  again=$( { TIMEFORMAT=%R; time ninja -C "$folder" program >/dev/null; } 2>&1)
  echo "build without a change: $again s (bar 2 s)"
}

mkdir -p "$out"
case ${1:-all} in
  race) shift; race "$@" ;;
  onnx) shift; onnx "$@" ;;
  cost) shift; cost "$@" ;;
  start) start ;;
  build) build_time ;;
  all) race; onnx; cost; start ;;
  *) echo "error: unknown bench '$1'" >&2; echo "hint: race, onnx, cost, start or build" >&2; exit 2 ;;
esac
