#!/usr/bin/env python3
"""scripts/release.sh --check refuses what is not ready, with the reason.

usage: release_test.py ROOT
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
failures = 0


def check(what, folder, status, said):
    global failures
    result = subprocess.run([folder / "scripts/release.sh", "--check"], capture_output=True, text=True)
    right = result.returncode == status and said in result.stderr
    print(("right: " if right else "wrong: ") + what + ("" if right else f"\n  {result}"))
    failures += not right


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)

    def git(*words):
        subprocess.run(["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@example.org", *words], check=True, capture_output=True)

    def commit(changelog):
        (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n{changelog}\n- What changed.\n\n## 1.2.2 (2026-01-01)\n")
        git("add", "-A")
        git("commit", "-m", "A change")

    for name in ("scripts/release.sh", "scripts/lib.sh"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    header = folder / "include/mulciber/version.h"
    header.parent.mkdir(parents=True)
    header.write_text("".join(f"#define MULCIBER_VERSION_{part} {number}\n" for part, number in (("MAJOR", 1), ("MINOR", 2), ("PATCH", 3))))
    git("init")
    commit("## 1.2.3 (unreleased)")
    check("a changelog without the date", folder, 1, "'## 1.2.3 (unreleased)', not '## 1.2.3 (DATE)'")
    commit("## 1.2.4 (2026-11-23)")
    check("a changelog of another version", folder, 1, "not '## 1.2.3 (DATE)'")
    commit("## 1.2.3 (2026-11-23)")
    check("what is ready", folder, 0, "1.2.3 can be released")
    (folder / "more").touch()
    check("a file that is not committed", folder, 1, "not committed")
    (folder / "more").unlink()
    git("tag", "v1.2.3")
    check("a version that is tagged", folder, 1, "v1.2.3 is there already")
sys.exit(failures != 0)
