#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unpacks the wanted members of a wheel: unpack_wheel.py WHEEL FOLDER PREFIX PATTERN...

Shell patterns choose members (`*` also matches `/`), a pattern with a leading `!` takes members
away again. PREFIX is dropped from the front of the names that have it; `-` means none.
Exit code 1 with one line on stderr when the wheel is damaged, the disk is full, or a pattern
matches nothing (then the wheel is not what the table describes).
"""

import fnmatch
import shutil
import sys
import zipfile
from pathlib import Path


def chosen_members(names, patterns):
    """The names to unpack; raises ValueError for a pattern without a match."""
    chosen = set()
    for pattern in (p for p in patterns if not p.startswith("!")):
        matches = fnmatch.filter(names, pattern)
        if not matches:
            raise ValueError(f"no member matches {pattern}")
        chosen.update(matches)
    for pattern in (p[1:] for p in patterns if p.startswith("!")):
        chosen.difference_update(fnmatch.filter(names, pattern))
    return sorted(chosen)


def target_of(folder, name, prefix):
    """Where a member goes; raises ValueError for a name that would leave the folder."""
    relative = name[len(prefix):] if prefix != "-" and name.startswith(prefix) else name
    target = folder / relative
    if not target.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"member {name} points outside the folder")
    return target


def unpack(wheel, folder, prefix, patterns):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        for name in chosen_members(names, patterns):
            target = target_of(folder, name, prefix)
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__.splitlines()[0])
    wheel, folder, prefix, *patterns = sys.argv[1:]
    try:
        unpack(wheel, Path(folder), prefix, patterns)
    except (OSError, ValueError, zipfile.BadZipFile) as problem:
        sys.exit(f"{Path(wheel).name}: {problem}")


if __name__ == "__main__":
    main()
