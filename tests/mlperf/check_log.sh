#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: check_log.sh LOG [PYTHON]
# Has a training log checked by MLCommons' own compliance checker (PyPI mlperf-logging 4.1.68) against
# every rule set that knows the benchmark "resnet"; those before 2.1.0 want an accuracy of at least
# .759 even in the open division. PYTHON is an interpreter that has it (default
# python3). Exits 0 when all accept the log, 1 when one refuses it, 77 when there is no checker.
set -u
log=$1
python=${2:-python3}
if ! "$python" -c 'import mlperf_logging' 2>/dev/null; then
  echo "no mlperf_logging in $python" >&2
  exit 77
fi
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for rules in 0.7.0 1.0.0 1.1.0 2.0.0 2.1.0 3.0.0 3.1.0 4.0.0; do
  if ! "$python" -m mlperf_logging.compliance_checker --usage training --ruleset "$rules" \
       --log_output "$output" "$log" >/dev/null 2>"$output.err"; then
    echo "rule set $rules refuses $log:" >&2
    cat "$output" "$output.err" >&2
    rm -f "$output.err"
    exit 1
  fi
  rm -f "$output.err"
  echo "rule set $rules accepts $log"
done
