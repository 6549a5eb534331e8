#!/usr/bin/env python3
"""The comparison with recorded answers: reasons of several lines, and those of devices with and without samplers.

usage: compare_test.py COMPARE_PY
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

DIFFERENCES = """# Everywhere.
first
# Without samplers: a reason
# of two lines.
second
# With samplers: another
# of two lines.
third
"""
RECORDED = {"first": "1", "second": "2", "third": "3", "fourth": "4"}


class CompareTest(unittest.TestCase):
    def compare(self, differing, *options):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            ours = {case: "0" if case in differing else answer for case, answer in RECORDED.items()}
            for file, answers in ("ours", ours), ("recorded", RECORDED):
                (folder / file).write_text("".join(f"{case}\t{answer}\n" for case, answer in answers.items()))
            (folder / "differences").write_text(DIFFERENCES)
            done = subprocess.run([sys.executable, COMPARE, *options, "--files", folder / "ours", folder / "recorded",
                                   folder / "differences"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            return done.returncode, done.stdout

    def test_each_device_has_its_own_differences(self):
        for differing, options in (["first", "second"], []), (["first", "third"], ["--samplers"]):
            code, output = self.compare(differing, *options)
            self.assertEqual(code, 0, output)
            self.assertIn("2 agree, 2 differ deliberately", output)

    def test_a_difference_of_other_devices_is_wrong(self):
        for differing, options in (["first", "third"], []), (["first", "second"], ["--samplers"]):
            self.assertNotEqual(self.compare(differing, *options)[0], 0)

    def test_a_difference_that_nobody_listed_is_wrong(self):
        self.assertNotEqual(self.compare(["first", "second", "fourth"])[0], 0)

    def test_a_reason_that_explains_nothing_is_named(self):
        code, output = self.compare(["first"])
        self.assertNotEqual(code, 0)
        self.assertIn("explains no difference: second", output)


if __name__ == "__main__":
    COMPARE = sys.argv.pop(1)
    unittest.main()
