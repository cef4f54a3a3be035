#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every header of src/ compiles alone: check_headers.py [BUILD_FOLDER]."""

import os
import subprocess
import sys

import compile_commands
from compile_commands import ROOT


def arguments_for(header, commands):
    """Those of a source file in the nearest folder, else of the command line's main program."""
    folder = header.rsplit("/", 1)[0]
    while folder:
        for source, arguments in sorted(commands.items()):
            if source.startswith(folder + "/"):
                return arguments
        folder = folder.rpartition("/")[0] if folder != "src" else ""
    return commands["src/cli/main.cpp"]


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release")
    commands = compile_commands.load(build)
    headers = compile_commands.tracked("src/*.h")
    # Without the engine plugins their headers have no flags to be compiled with.
    if not any(source.startswith("src/engines/") for source in commands):
        headers = [header for header in headers if not header.startswith("src/engines/")]

    def compiles(header):
        command = ["c++", *arguments_for(header, commands), "-fsyntax-only", "-x", "c++", "-"]
        text = f'#include "{header.removeprefix("src/")}"\n' * 2  # twice: it guards itself
        return subprocess.run(command, cwd=build, input=text, capture_output=True, text=True)

    failed = 0
    results = compile_commands.run_all(headers, compiles, os.cpu_count())
    for header, result in zip(headers, results):
        if result.returncode != 0:
            failed += 1
            print(f"{header} does not compile alone:\n{result.stderr}")
    print(f"{len(headers) - failed} headers compile alone, {failed} do not")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
