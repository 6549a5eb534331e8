#!/usr/bin/env python3
"""The documents become a site without dead links, and a dead link is found.

usage: site_test.py REPOSITORY
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
MAKE = ROOT / "docs/site/make.py"
failures = 0


def check(what, result, status, out):
    global failures
    right = result.returncode == status and out in result.stdout
    print(("right: " if right else "wrong: ") + what)
    if not right:
        failures += 1
        print(f"  status {result.returncode}, no '{out}'\n{result.stdout}\n{result.stderr[-1500:]}")


def make(root, folder):
    return subprocess.run([sys.executable, MAKE, root, folder], capture_output=True, text=True)


try:
    import markdown  # noqa: F401
except ImportError:
    print("skipped: there is no python3-markdown to make pages with")
    sys.exit(77)
with tempfile.TemporaryDirectory() as at:
    at = pathlib.Path(at)
    made = make(ROOT, at / "site")
    print(made.stdout, end="")
    check("the documents have no dead links", made, 0, " 0 dead")
    front = (at / "site/index.html").read_text() if (at / "site/index.html").exists() else ""
    check("the front page shows its pictures and leads to the documents",
          subprocess.CompletedProcess([], 0, front), 0, 'src="docs/ocean.jpg"')
    check("pages are linked as pages", subprocess.CompletedProcess([], 0, front), 0, 'href="docs/architecture.html"')
    small = at / "small"
    (small / "docs").mkdir(parents=True)
    (small / "README.md").write_text("# Front\n\n[one](docs/glossary.md#a-heading) [file](kernel.cu) [other](https://host/x)\n")
    (small / "docs/glossary.md").write_text("# One\n\n## A heading\n\n[back](../README.md)\n")
    (small / "kernel.cu").write_text("")
    check("links to pages, headings, files and other hosts are no fault", make(small, at / "out"), 0, "2 pages, 1 files, 3 links")
    (small / "docs/glossary.md").write_text("# One\n\n[gone](two.md)\n")
    check("a file that is not there is dead", make(small, at / "out"), 1, "dead: docs/glossary.md: two.md")
    check("so is a heading", make(small, at / "out"), 1, "dead: README.md: docs/glossary.md#a-heading: there is no such heading")
print(f"{failures} wrong")
sys.exit(failures != 0)
