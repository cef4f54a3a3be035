#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the tree that no compiler checks: check_structure.py [ROOT].

- a component includes only itself and those above it in CMakeLists.txt; an engine any component
  and itself; framework headers stay in src/engines/ and its tests;
- files have at most 400 lines, start with their licence, are named in snake_case;
- every component has a README.md; headers have `#pragma once`;
- no Util, Manager, Helper, Impl or Base in type names; no marks of unfinished work;
- nothing names a folder of one machine; links between pages lead somewhere.
"""

import re
import subprocess
import sys
from pathlib import Path

LINES = 400
CODE = (".h", ".cpp", ".py", ".sh", ".cmake")
FRAMEWORKS = re.compile(r"^(torch|ATen|c10|caffe2|openvino|onnxruntime|xla|pjrt)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
TYPE_NAME = re.compile(r"^\s*(?:class|struct|enum class)\s+\w*(?:Util|Utils|Manager|Helper|Impl|Base)\b")
# Written so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
MACHINE = re.compile(r"(?<![\w}])(/wo" r"rk/|\.\./sha" r"red|/ho" r"me/(?!someone)[a-z]+/|/tm" r"p/[a-z]+/[a-z])")


def component_order(root):
    text = (root / "CMakeLists.txt").read_text()
    return re.search(r"set\(ASSAY_COMPONENTS\s+([^)]*)\)", text).group(1).split()


class Checker:
    """Collects what is wrong as `file:line: sentence`."""

    def __init__(self, root):
        self.root = Path(root)
        self.components = component_order(self.root)
        self.problems = []

    def say(self, name, line, sentence):
        self.problems.append(f"{name}:{line}: {sentence}")

    def files(self):
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root, check=True, capture_output=True, text=True).stdout
        return sorted(n for n in listing.split("\0") if n and (self.root / n).is_file())

    def check(self):
        names = self.files()
        for name in names:
            try:
                text = (self.root / name).read_text()
            except UnicodeDecodeError:
                continue  # a corpus or an image
            if name == "LICENSE" or "/corpus/" in name or "/golden/" in name:
                continue
            self.check_text(name, text)
            if name.endswith(CODE) or name == "dev" or name == ".ci/run":
                self.check_code(name, text)
            if name.endswith((".h", ".cpp")):
                self.check_cpp(name, text)
        for folder in [f"src/{c}" for c in self.components]:
            if f"{folder}/README.md" not in names:
                self.say(folder, 1, "no README.md: purpose, in scope, out of scope")
        return self.problems

    def check_text(self, name, text):
        for number, line in enumerate(text.splitlines(), 1):
            if UNFINISHED.search(line):
                self.say(name, number, "a mark of unfinished work")
            if MACHINE.search(line):
                self.say(name, number, "names a folder of one machine")
            for link in LINK.findall(line) if name.endswith(".md") else ():
                if not (self.root / name).parent.joinpath(link).exists():
                    self.say(name, number, f"{link}: no such file")

    def check_code(self, name, text):
        lines = text.splitlines()
        if len(lines) > LINES:
            self.say(name, len(lines), f"more than {LINES} lines")
        if not name.endswith(".cmake") and not any("SPDX-License-Identifier" in l for l in lines[:2]):
            self.say(name, 1, "no SPDX-License-Identifier")
        if re.search(r"[A-Z-]", Path(name).name):
            self.say(name, 1, "file names are snake_case")

    def check_cpp(self, name, text):
        if name.endswith(".h") and "#pragma once" not in text:
            self.say(name, 1, "no #pragma once")
        for number, line in enumerate(text.splitlines(), 1):
            if TYPE_NAME.match(line):
                self.say(name, number, "a type name says nothing (Util, Manager, Helper, Impl, Base)")
            include = INCLUDE.match(line)
            if include:
                self.check_include(name, number, include.group(1))

    def check_include(self, name, number, included):
        in_engine = name.startswith(("src/engines/", "tests/engines/", "bench/"))
        if FRAMEWORKS.match(included) and not in_engine:
            self.say(name, number, f"{included}: framework headers stay in src/engines/")
        parts = name.split("/")
        first = included.split("/")[0]
        if parts[0] != "src" or "/" not in included:
            return
        if parts[1] == "engines":
            own = "/".join(parts[1:3])
            if first == "engines" and not included.startswith(own + "/"):
                self.say(name, number, f"{included}: an engine includes no other engine")
            return
        if first == "engines":
            self.say(name, number, f"{included}: engines are loaded, never included")
        elif first in self.components:
            if self.components.index(first) > self.components.index(parts[1]):
                self.say(name, number, f"{included}: {first} is below {parts[1]} in the include order")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = Checker(root).check()
    for problem in problems:
        print(problem)
    print(f"structure: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
