#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The static checks: lint.sh [--all] [STEP...]; steps: format, structure, scripts, headers,
# generated, tidy. With --all clang-tidy reads every file, not only what changed.
# Needs a built build/release, which `./dev lint` sees to.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

format() {
  local -a files
  mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.cpp')
  clang-format --dry-run --Werror "${files[@]}"
}

structure() { tools/check_structure.py; }

scripts() {
  local -a files
  mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.sh' dev .ci/run)
  shellcheck --severity=warning "${files[@]}"
}

headers() { tools/check_headers.py; }

generated() { tools/regenerate.sh --check; }

# LINT_SECONDS bounds the time; what was not read is counted, not hidden.
tidy() { tools/tidy.py ${LINT_SECONDS:+--seconds "$LINT_SECONDS"} ${tidy_all:+--all}; }

tidy_all=
if [[ ${1:-} == --all ]]; then tidy_all=1 && shift; fi
steps=("$@")
((${#steps[@]})) || steps=(format structure scripts headers generated tidy)
failed=()
for step in "${steps[@]}"; do
  if [[ ! $step =~ ^(format|structure|scripts|headers|generated|tidy)$ ]]; then
    echo "error: unknown step: $step" >&2
    echo "hint: format, structure, scripts, headers, generated or tidy" >&2
    exit 2
  fi
  echo "lint: $step"
  "$step" || failed+=("$step")
done
if ((${#failed[@]})); then
  echo "lint: failed: ${failed[*]}"
  exit 1
fi
