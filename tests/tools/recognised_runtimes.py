#!/usr/bin/env python3
"""Which functions redirection finds in libraries, as a table in Markdown.

usage: recognised_runtimes.py LIST_STATIC_RUNTIME CC FILE...

FILE is a wheel with libraries in it, a library, or a libcudart_static.a. The latter's functions are known by their symbols.
Those in stripped libraries are checked by another sign than those by which they were found: their first 40 instructions are
the same as those of the function of that name in one of the static runtimes. Where they are those of another function
alone, or a library exports the function from another place, the match is false, and the command fails.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def listed(lister, file):
    """What was found: a line that says it, (address, name, shape) of each function, and the least time of three runs."""
    runs = [output(lister, str(file)) for _ in range(3)]
    verdict, *lines = runs[0].stdout.splitlines()
    return verdict, [tuple(line.split()) for line in lines], min(float(run.stderr.split()[0]) for run in runs)


def exported(file, functions):
    """Of these functions, those that the file exports, and how many of them lie elsewhere than was found."""
    places = {}
    for line in output("nm", "-D", "--defined-only", str(file)).stdout.splitlines():
        address, _, name = line.split()
        places[name.split("@")[0]] = int(address, 16)
    here = [(int(address, 16), name) for address, name, _ in functions if name in places]
    return len(here), sum(places[name] != address for address, name in here)


def loadsRuntime(file):
    return any(line.split()[-1].startswith("__cudaRegisterFatBinary@")
               for line in output("nm", "-D", "--undefined-only", str(file)).stdout.splitlines())


def libraries(path, folder):
    """The libraries of a file by the names to show."""
    if path.suffix == ".whl":
        version = "-".join(path.name.split("-")[:2])
        with zipfile.ZipFile(path) as wheel:
            for name in sorted(wheel.namelist()):
                if re.search(r"\.so(\.\d+)*$|libcudart_static\.a$", name):
                    yield version, pathlib.Path(wheel.extract(name, folder))
    else:
        toolkit = re.search(r"cuda-[\d.]+", str(path.resolve()))
        yield toolkit.group() if toolkit else path.parent.name, path


class Runtime:
    """A static runtime with its symbols."""

    def __init__(self, lister, cc, archive, folder):
        library = str(pathlib.Path(folder) / "runtime.so")
        output(cc, "-shared", "-o", library, "-Wl,--whole-archive", str(archive), "-Wl,--no-whole-archive", "-lpthread",
               "-ldl", "-lrt")
        self.byName = {name: shape for _, name, shape in listed(lister, library)[1]}
        self.names = collections.defaultdict(set)
        for name, shape in self.byName.items():
            self.names[shape].add(name)

    def compare(self, functions):
        """How many functions have the shape of their name here, and how many that of other names alone."""
        own = sum(self.byName.get(name) == shape for _, name, shape in functions)
        other = sum(shape in self.names and name not in self.names[shape] for _, name, shape in functions)
        return own, other


def main():
    lister, cc, *files = sys.argv[1:]
    runtimes, wrong = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for path in map(pathlib.Path, files):
            for version, file in libraries(path, folder):
                if file.suffix == ".a":
                    runtimes[version] = Runtime(lister, cc, file, folder)
                    continue
                verdict, functions, time = listed(lister, file)
                found.append((version, file.name, verdict, functions, time, exported(file, functions), loadsRuntime(file)))
                if path.suffix == ".whl":
                    file.unlink()
        groups = collections.defaultdict(list)
        for version, name, verdict, functions, time, (exports, misplaced), loads in sorted(found):
            if verdict == "none":
                verdict = "none inside, loads the shared one" if loads else "none inside"
            row = [version, verdict, "", ""]
            if functions:
                wrong += misplaced
                best = max(runtimes, key=lambda one: runtimes[one].compare(functions)[0])
                own, other = runtimes[best].compare(functions)
                known = own > len(functions) / 2
                wrong += other if known else 0
                signs = [f"{own} by shape ({best})"] if known else []
                signs += [f"{exports - misplaced} by its exports"] if exports else []
                row[2:] = [str(len(functions)), ", ".join(signs) or "no runtime with symbols to compare"]
            groups[tuple(row)].append((name, time))
    print("| from | libraries | runtime | functions | confirmed | ms at most |\n|---|---|---|---|---|---|")
    for (version, *row), members in groups.items():
        names = ", ".join(f"`{name}`" for name, _ in members)
        print("| " + " | ".join([version, names, *row, f"{max(time for _, time in members):.0f}"]) + " |")
    print(f"\n{len(found)} libraries, {len(runtimes)} runtimes with symbols, {wrong} false matches")
    sys.exit(wrong != 0)


main()
