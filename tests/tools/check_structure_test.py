#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The structure check finds each kind of offence, and nothing in a clean tree."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import check_structure  # noqa: E402

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = LICENCE + "#pragma once\n"


class CheckStructure(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        self.write("CMakeLists.txt", "set(ASSAY_COMPONENTS base graph)\n")
        for component in ("base", "graph"):
            self.write(f"src/{component}/README.md", "purpose\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def problems(self):
        return check_structure.Checker(self.root).check()

    def expect_one(self, name, words):
        problems = self.problems()
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith(name + ":"), problems)
        self.assertIn(words, problems[0])

    def test_accepts_a_clean_tree(self):
        self.write("src/graph/graph.cpp", LICENCE + '#include "base/error.h"\n#include "graph/graph.h"\n')
        self.assertEqual(self.problems(), [])

    def test_refuses_an_include_of_a_component_below(self):
        self.write("src/base/error.cpp", LICENCE + '#include "graph/graph.h"\n')
        self.expect_one("src/base/error.cpp", "below base in the include order")

    def test_refuses_a_framework_outside_the_engines(self):
        self.write("src/graph/graph.cpp", LICENCE + "#include <torch/torch.h>\n")
        self.expect_one("src/graph/graph.cpp", "framework headers stay")

    def test_allows_a_framework_in_its_engine(self):
        self.write("src/engines/torch/run.cpp", LICENCE + '#include <ATen/core/Tensor.h>\n#include "base/a.h"\n')
        self.assertEqual(self.problems(), [])

    def test_refuses_one_engine_in_another(self):
        self.write("src/engines/xla/run.cpp", LICENCE + '#include "engines/torch/run.h"\n')
        self.expect_one("src/engines/xla/run.cpp", "includes no other engine")

    def test_refuses_an_engine_in_a_component(self):
        self.write("src/graph/graph.cpp", LICENCE + '#include "engines/torch/run.h"\n')
        self.expect_one("src/graph/graph.cpp", "never included")

    def test_refuses_a_long_file(self):
        self.write("src/base/long.cpp", LICENCE + "\n" * 400)
        self.expect_one("src/base/long.cpp", "more than 400 lines")

    def test_refuses_a_file_without_licence(self):
        self.write("src/base/a.cpp", "int a;\n")
        self.expect_one("src/base/a.cpp", "SPDX")

    def test_refuses_a_header_without_guard(self):
        self.write("src/base/a.h", LICENCE)
        self.expect_one("src/base/a.h", "#pragma once")

    def test_refuses_names_that_say_nothing(self):
        self.write("src/base/a.h", HEADER + "class FileManager {};\n")
        self.expect_one("src/base/a.h", "a type name says nothing")

    def test_refuses_unfinished_work(self):
        self.write("docs/page.md", "TO" + "DO: write\n")
        self.expect_one("docs/page.md", "unfinished")

    def test_refuses_folders_of_one_machine(self):
        self.write("docs/page.md", "see /ho" + "me/somebody/file\n")
        self.expect_one("docs/page.md", "one machine")

    def test_refuses_a_link_to_nowhere(self):
        self.write("docs/page.md", "[here](page.md#part), [there](other.md)\n")
        self.expect_one("docs/page.md", "other.md: no such file")

    def test_refuses_a_component_without_purpose(self):
        (self.root / "src/base/README.md").unlink()
        self.expect_one("src/base", "no README.md")


if __name__ == "__main__":
    unittest.main()
