#!/usr/bin/env python3
"""Makes the documents a site of static pages, and fails on links that lead nowhere.

usage: make.py REPOSITORY FOLDER
Pages are the README, the other documents of the root, docs/*.md and the READMEs that they link to. Files that pages show or
link to are copied beside them. Links to other hosts are left alone.
"""
import html.parser
import pathlib
import re
import shutil
import sys
import urllib.parse

import markdown

ROOT, OUT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
TEMPLATE = (pathlib.Path(__file__).parent / "page.html").read_text()


def slug(title, separator):
    """The name of a heading, as it is in links between documents."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", separator)


class Page:
    def __init__(self, source):
        self.source = source  # relative to the repository
        self.name = "index.html" if str(source) == "README.md" else str(source.with_suffix(".html"))
        text = (ROOT / source).read_text()
        self.title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), source.stem)
        # A list may begin right after a line of text, as it may where these documents are usually read.
        text = re.sub(r"(?m)^((?![-*|#> ]|\d+\. |```).+)\n(- |\d+\. )", r"\1\n\n\2", text)
        self.body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"],
                                      extension_configs={"toc": {"slugify": slug}})


class Links(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src"):
                self.links.append(value)
            elif key == "id":
                self.names.add(value)


def target_of(page, link):
    """The file of the repository that a link names, and its place in it."""
    path, _, place = link.partition("#")
    target = (ROOT / page.source.parent / urllib.parse.unquote(path)).resolve() if path else ROOT / page.source
    if target.is_dir() and (target / "README.md").exists():
        target = target / "README.md"
    return target, place


def main():
    pages, wanted, dead, local = {}, [pathlib.Path("README.md"), *(p.relative_to(ROOT) for p in sorted(ROOT.glob("*.md"))),
                                      *(p.relative_to(ROOT) for p in sorted((ROOT / "docs").glob("*.md")))], [], 0
    listed = list(dict.fromkeys(wanted))
    copied = set()
    while wanted:
        source = wanted.pop(0)
        if source in pages:
            continue
        page = pages[source] = Page(source)
        for link in Links(page.body).links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _ = target_of(page, link)
            if not target.is_relative_to(ROOT) or not target.exists():
                dead.append(f"{source}: {link}")
            elif target.suffix == ".md":
                wanted.append(target.relative_to(ROOT))
            elif target.is_file():
                copied.add(target.relative_to(ROOT))
    shutil.rmtree(OUT, ignore_errors=True)
    for path in copied:
        (OUT / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, OUT / path)
    names = {source: Links(page.body).names for source, page in pages.items()}
    for source, page in pages.items():
        up = "../" * (len(pathlib.Path(page.name).parts) - 1)

        def changed(match):
            nonlocal local
            link = match[2]
            if re.match(r"[a-z]+:", link):
                return match[0]
            local += 1
            target, place = target_of(page, link)
            if not target.exists():
                return match[0]
            relative = target.relative_to(ROOT)
            if relative in pages:
                if place and place not in names[relative]:
                    dead.append(f"{source}: {link}: there is no such heading")
                return f'{match[1]}="{up}{pages[relative].name}{"#" + place if place else ""}"'
            if target.is_dir():
                dead.append(f"{source}: {link}: a folder without README.md")
            return f'{match[1]}="{up}{relative}"'

        body = re.sub(r'(href|src)="([^"]*)"', changed, page.body)
        entries = "\n".join(f'<a href="{up}{pages[other].name}"{" class=here" if other == source else ""}>{pages[other].title}</a>'
                            for other in listed)
        file = OUT / page.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TEMPLATE.replace("@title@", page.title).replace("@pages@", entries).replace("@body@", body))
    print(f"{len(pages)} pages, {len(copied)} files, {local} links between them, {len(dead)} dead")
    for link in dead:
        print(f"dead: {link}")
    return bool(dead)


sys.exit(main())
