# SPDX-License-Identifier: Apache-2.0
"""How CMake compiles each source file: what the checks that compile something share."""

import json
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def load(build_folder):
    """{path relative to the root: arguments without launcher, -c, -o and the file itself}."""
    commands = {}
    for entry in json.loads((Path(build_folder) / "compile_commands.json").read_text()):
        source = Path(entry["file"])
        if not source.is_relative_to(ROOT) or source.is_relative_to(Path(build_folder).resolve()):
            continue
        words = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(words) if "ccache" not in Path(word).name)
        arguments, skip = [], False
        for word in words[compiler + 1:]:
            if skip:
                skip = False
            elif word == "-o":
                skip = True
            elif word not in ("-c", entry["file"]):
                arguments.append(word)
        commands[str(source.relative_to(ROOT))] = arguments
    return commands


def run_all(tasks, run, jobs, stop=lambda: False):
    """Yields the results of run(task) in the order of tasks, `jobs` at a time, until stop().

    A task that was not started has the result None.
    """
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda task: None if stop() else run(task), tasks)


def tracked(*patterns):
    """Files that git tracks or would track, as paths relative to the root."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listing.split("\0") if name and (ROOT / name).is_file())
