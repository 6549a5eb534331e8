#!/usr/bin/env python3
"""Installs the build, moves it to a path with spaces, and uses it as others would: the command, CMake, pkg-config, the man page
and the shells' completions.

usage: package_test.py BUILD CXX [EXAMPLE]   EXAMPLE: a CUDA program to run on the device that is expected to be there
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import shells

BUILD, CXX = pathlib.Path(sys.argv[1]), sys.argv[2]
EXAMPLE = sys.argv[3] if len(sys.argv) > 3 else None
CONSUMER = pathlib.Path(__file__).parent / "consumer"
failures = 0


def run(*command, **environment):
    clean = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**clean, **environment})


def check(what, result, out, status=0):
    """A status of None: any."""
    global failures
    right = status in (None, result.returncode) and re.search(out, result.stdout)
    print(("right: " if right else "wrong: ") + what)
    if not right:
        failures += 1
        print(f"  status {result.returncode}, no '{out}'\n  {result.stdout[-1500:]}\n  {result.stderr[-1500:]}")


def same(what, found, wanted):
    global failures
    right = found == wanted
    print(("right: " if right else "wrong: ") + what)
    if not right:
        failures += 1
        print(f"  {sorted(found)}\n  and not {sorted(wanted)}")


def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def commands_of(help_text):
    return re.findall(r"^  (\w+) ", re.split("(?i)subcommands:", help_text)[1], re.M)


def listed_options(help_text):
    """Those that begin a line, short ones and long ones."""
    lines = re.findall(r"^ +((?:-\w)?,? *(?:--[a-z-]+)?)", help_text, re.M)
    return {word for line in lines for word in re.findall(r"--?[a-z][a-z-]*", line)}


def check_completions(place, commands):
    both = {"mulciber", "mulciberc++"}
    compiler_options = set(re.findall(r"^  (--?[a-zA-Z_-]+(?:=false)?)", run(place / "bin/mulciberc++", "--help").stdout, re.M))
    for shell in shells.shells():
        def offered(what, wanted, *words):
            same(f"{shell} completes {what}", shells.offers(shell, place, *words), wanted)

        offered("commands", commands, "mulciber", "")
        offered("the beginning of one", {"translate"}, "mulciber", "tr")
        offered("options of the command itself", listed_options(run(place / "bin/mulciber", "--help").stdout), "mulciber", "-")
        for command in sorted(commands):
            offered(f"options of {command}", listed_options(run(place / "bin/mulciber", command, "--help").stdout), "mulciber", command, "-")
        offered("a file behind an option", both, "mulciber", "run", "--trace", "bin/mulc")
        offered("a file behind that", both, "mulciber", "translate", "-o", "x", "bin/mulc")
        offered("a profile", {"nvidia"}, "mulciber", "check", "--profile", "n")
        offered("nothing where it knows nothing", set(), "mulciber", "translate", "x", "--dump", "")
        offered("a program", both, "mulciber", "run", "--profile", "mulciber")
        if shell != "bash" or os.path.exists(shells.LOADER):
            offered("what the program takes", {"translate"}, "mulciber", "run", "--trace", "x", "mulciber", "tr")
            offered("the same behind --", {"translate"}, "mulciber", "run", "--", "mulciber", "tr")
        offered("options of mulciberc++", compiler_options, "mulciberc++", "-")
        offered("architectures", {"sm_80", "sm_86"}, "mulciberc++", "-arch", "sm_8")
        offered("a Clang", {"mulciberc++"}, "mulciberc++", "--clang=mulciberc")
        offered("a source", both, "mulciberc++", "-c", "bin/mulc")


def main():
    with tempfile.TemporaryDirectory() as at:
        at = pathlib.Path(at)
        os.environ["XDG_CACHE_HOME"] = str(at / "cache")  # for a link to the libraries
        check("the build installs", run("cmake", "--install", BUILD, "--prefix", at / "first"), "libmulciber")
        place = at / "a second place"
        shutil.move(at / "first", place)
        libraries = next(place.glob("lib*/**/libmulciber.so")).parent
        program = place / "bin/mulciber"

        documents = place / "share/doc/mulciber"
        same("the licence is installed", {path.name for path in documents.iterdir()} & {"LICENSE", "copyright"}, {"LICENSE", "copyright"})
        named = set((documents / "copyright").read_text().split())
        same("and those of the libraries inside are named", {"SPIRV-Tools", "Zydis", "volk", "fmt", "spdlog", "CLI11", "zstd", "lz4", "xxHash"} - named, set())

        check("the command runs from a folder that was moved", run(program, "--version"), r"mulciber \d+\.\d+\.\d+")
        check("it finds its libraries", run(program, "doctor"), f"ok +libraries +all in {libraries}/mulciber", status=None)
        if EXAMPLE:
            check("a CUDA program runs", run(program, "run", EXAMPLE), "")

        built = at / "consumer"
        configured = run("cmake", "-S", CONSUMER, "-B", built, f"-DCMAKE_PREFIX_PATH={place}", f"-DCMAKE_CXX_COMPILER={CXX}")
        check("a CMake project finds the package", configured, "Build files have been written")
        check("and builds", run("cmake", "--build", built), "Built target use_cuda")
        check("its translator works", run(built / "use_translator"), "translated store")
        check("kernels translated ahead of time are there", run(built / "use_kernels"), r"^$" if EXAMPLE else "",
              status=0 if EXAMPLE else None)
        check("its CUDA libraries work", run(built / "use_cuda"), r"runtime 130\d\d")
        if shutil.which("clang++"):
            without = at / "without_nvcc"
            run("cmake", "-S", CONSUMER, "-B", without, f"-DCMAKE_PREFIX_PATH={place}", "-DMULCIBER_CUDA_COMPILER=")
            made = run("cmake", "--build", without, "--target", "use_kernels")
            check("without nvcc its kernels are compiled by mulciberc++", made, "Built target use_kernels")
            waves = without / "mulciber/use_kernels/waves.ptx"
            same("and not taken from the PTX beside them", set(re.findall("LLVM NVPTX|NVIDIA NVVM", waves.read_text() if waves.exists() else "")), {"LLVM NVPTX"})
            check("and are there", run(without / "use_kernels"), r"^$" if EXAMPLE else "", status=0 if EXAMPLE else None)

        packages = {"PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
        for name, source, out in (("mulciber", "use_translator", "translated store"),
                                  ("mulciber-cuda", "use_cuda", "runtime 130")):
            flags = run("pkg-config", "--cflags", "--libs", name, **packages)
            check(f"pkg-config knows {name}", flags, "-l")
            target = at / f"{source}_by_pkg_config"
            check("and what it says compiles",
                  run(CXX, "-std=c++20", CONSUMER / f"{source}.cpp", "-o", target, *shlex.split(flags.stdout),
                      f"-Wl,-rpath,{libraries}"), "")
            check("and runs", run(target), out)

        page = (BUILD / "mulciber.1").read_text().replace("\\-", "-")
        help_text = run(program, "--help").stdout
        wanted = options_of(help_text)
        commands = set(commands_of(help_text))
        for command in commands:
            wanted |= options_of(run(program, command, "--help").stdout)
        same("the manual page describes every command", set(re.findall(r"^\.B (\w+)$", page, re.M)) & commands, commands)
        same("the manual page names every option", options_of(page), wanted)
        if shutil.which("groff"):
            rendered = run("groff", "-man", "-Tutf8", "-ww", BUILD / "mulciber.1")
            same("groff finds no fault in it", rendered.stderr, "")

        compiler = place / "bin/mulciberc++"
        page = (BUILD / "mulciberc++.1").read_text().replace("\\-", "-")
        options = set(re.findall(r"^  (--?[a-zA-Z_]+)", run(compiler, "--help").stdout, re.M))
        same("the manual page of mulciberc++ names its options", {option for option in options if option not in page}, set())
        if shutil.which("clang++"):
            source = at / "kernel.cu"
            source.write_text("__global__ void kernel(float* x) { x[threadIdx.x] = sinf(x[threadIdx.x]); }\n"
                              "int main() { return reinterpret_cast<void*>(&kernel) == nullptr; }\n")
            check("mulciberc++ compiles with the headers that were moved", run(compiler, source, "-o", at / "kernel"), "")
            check("and its program finds the runtime", run(at / "kernel"), "")
            shutil.copytree(place, at / "a:colon", symlinks=True)
            linked = run(at / "a:colon/bin/mulciberc++", source, "-o", at / "kernel")
            same("it says that a program would not find it by a path with a colon", set(re.findall("with mulciber run", linked.stderr)), {"with mulciber run"})
            check("and the program starts so", run(at / "a:colon/bin/mulciber", "run", at / "kernel"), "")
        else:
            print("skipped: there is no clang++ for mulciberc++")

        check_completions(place, commands)
    print(f"{failures} wrong")
    return failures != 0


sys.exit(main())
