#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy, two files at a time; a file that has not changed since it passed is not read again.

usage: tidy.py [--all] [--seconds N] [--build FOLDER] [FILE...]
Without files: those that changed since the newest commit older than twelve hours (with a changed
header: the sources that include it), or all when there is no such commit, or with --all.
--seconds stops starting files after that time and says how many were left.
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time

import compile_commands
from compile_commands import ROOT


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True,
                          text=True).stdout.strip()


def changed_sources(sources):
    """The part of `sources` that differs from the base commit, directly or by a header."""
    base = git("rev-list", "-1", "--before=12 hours ago", "HEAD")
    if not base:
        return sources
    changed = set(git("diff", "--name-only", base).splitlines())
    changed.update(git("ls-files", "--others", "--exclude-standard").splitlines())
    if ".clang-tidy" in changed:
        return sources
    headers = {name.split("/", 1)[1] for name in changed if name.endswith(".h") and "/" in name}

    def includes_changed_header(source):
        text = (ROOT / source).read_text()
        return any(name in headers for name in re.findall(r'#include "([^"]+)"', text))

    return [s for s in sources if s in changed or includes_changed_header(s)]


class Tidy:
    """Runs clang-tidy on one file, or finds that it passed before with the same text."""

    def __init__(self, build, commands):
        self.build = build
        self.commands = commands
        self.passed = os.path.join(build, "tidy")
        os.makedirs(self.passed, exist_ok=True)
        version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True)
        self.salt = version.stdout + (ROOT / ".clang-tidy").read_bytes()

    def key(self, source):
        """A digest of all that clang-tidy sees, or None when the file does not even preprocess."""
        command = ["clang++", *self.commands[source], "-E", "-w", str(ROOT / source)]
        text = subprocess.run(command, cwd=self.build, capture_output=True)
        if text.returncode != 0:
            return None
        return hashlib.sha256(self.salt + text.stdout).hexdigest()

    def check(self, source):
        """Empty when the file passes, else what clang-tidy says."""
        key = self.key(source)
        stamp = os.path.join(self.passed, key) if key else None
        if stamp and os.path.exists(stamp):
            return ""
        command = ["clang-tidy", "-p", str(self.build), "--quiet",
                   "--extra-arg=-Wno-unknown-warning-option", str(ROOT / source)]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            return result.stdout + result.stderr
        if stamp:
            open(stamp, "w").close()
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()

    commands = compile_commands.load(options.build)
    sources = options.files or sorted(commands)
    if not options.all and not options.files:
        sources = changed_sources(sources)
    tidy = Tidy(options.build, commands)
    end = time.monotonic() + options.seconds
    passed = failed = left = 0
    for words in compile_commands.run_all(sources, tidy.check, os.cpu_count(),
                                          stop=lambda: time.monotonic() > end):
        passed += words == ""
        failed += bool(words)
        left += words is None
        if words:
            print(words, flush=True)
    print(f"clang-tidy: {passed} files pass, {failed} fail, {left} not read for lack of time")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
