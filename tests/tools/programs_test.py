#!/usr/bin/env python3
"""bench/programs: what it reads from programs' output, when two outputs are the same, and what it says of programs that
are slow, wrong, failing, hanging or not to be built.

usage: programs_test.py SOURCE_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCES = pathlib.Path(sys.argv[1]) / "bench" / "programs"
sys.path.insert(0, str(SOURCES))
from kernels import first_launches, of_native, of_ours, side_by_side  # noqa: E402
from output import Output, difference  # noqa: E402

failures = 0


def expect(what, seen, wanted):
    global failures
    print(("right: " if seen == wanted else "wrong: ") + what + ("" if seen == wanted else f"\n  {seen}\n  instead of {wanted}"))
    failures += seen != wanted


def times(text, **options):
    return Output(text, **options).times


def told(native, ours, **options):
    return difference([Output(text) for text in native], [Output(text) for text in ours], **options)


def reading():
    expect("a unit behind", times("Average kernel time: 12.5 (us)"), {"Average kernel time": 12.5})
    expect("a unit in front", times("time [ms]: 3"), {"time": 3000})
    expect("a unit at once", times("took 2e-3sec."), {"took": 2000})
    expect("several in a line", times("copy 1 ms, sum 2 ms"), {"copy , sum": 1000, "copy , sum (2)": 2000})
    expect("the same line again", times("step: 1 us\nstep: 2 us"), {"step": 1, "step (2)": 2})
    expect("numbers in labels", times("size 16: 1 us\nsize 32: 2 us"), {"size 16": 1, "size 32": 2})
    expect("rates in labels", times("at 3.5 GB/s: 1 us"), {"at GB/s": 1})
    expect("a rate is no time", times("12.3 GB/s and 5 m/s"), {})
    expect("the host's times", times("CPU time: 3 ms\nhost to device: 4 ms"), {"host to device": 4000})
    expect("an expression of one's own", times("A;7;x\nB;8;y", times=r"(?P<label>\w);(?P<value>\d);x"), {"A": 7e6})
    expect("rates that it names", times("A GB/s 4\nB ms 3", times=r"^(?P<label>\w) (?:GB/s (?P<rate>\d)|(?P<unit>ms) (?P<value>\d))"),
           {"A": 2.5e5, "B": 3000})
    expect("results without times and rates", Output("sum 1.5\ntime 3 ms\nx 2 in 4 us\n8 GFLOPS").results,
           [("sum \0", [1.5]), ("time <time>", []), ("x \0 in <time>", [2])])
    expect("times without a unit are no results", Output("Kernel time : 0.25\nTotal clocks = 9\ntime clocks = 1\nefficiency: 80\nback TOOK: 3e-5").results, [])
    expect("numbers of time steps are", Output("time step: 3\nruntime 7").results, [("time step: \0", [3]), ("runtime \0", [7])])
    expect("two times with one unit", Output("average time (a vs b): 1.5 2.5 (us)").results, [("average time (a vs b): <time>", [])])
    begin = time.monotonic()
    many = "100 " * 200
    expect("a line of many numbers", [len(numbers) for _, numbers in Output(f"{many}\n{many * 1000}").results], [200, 200000])
    expect("at once", time.monotonic() - begin < 5, True)
    expect("only some lines", Output("sum 1\nseed 2", results="sum").results, [("sum \0", [1])])


def comparing():
    expect("the same but for times", told(["a 1 in 3 us"], ["a 1 in 4 us"]), "")
    expect("within the tolerance", told(["a 1.00001"], ["a 1"]), "")
    expect("beyond it", told(["a 1.001"], ["a 1"]), "a 1 instead of a 1.001")
    expect("a wider one", told(["a 1.001"], ["a 1"], tolerance=0.01), "")
    expect("other words", told(["PASS"], ["FAIL"]), "FAIL instead of PASS")
    expect("the sign # in a line", told(["# 1 of # 2"], ["# 1 of # 3"]), "# 1 of # 3 instead of # 1 of # 2")
    expect("nan for a number", told(["a 1"], ["a nan"]), "a nan instead of a 1")
    expect("lines that are missing", told(["a\nb"], ["a"]), "1 lines instead of 2")
    expect("lines that natively differ", told(["a 1\nb 1", "a 2\nb 1"], ["a 3\nb 1"]), "")
    expect("others beside them", told(["a 1\nb 1", "a 2\nb 1"], ["a 3\nb 2"]), "b 2 instead of b 1")


def kernels():
    ours = of_ours("share total calls\n 90.0%    6.00 ms         3     2.00 ms     1.00 ms     3.00 ms       25 %  add(int *)\n"
                   "  9.0%    9.00 us         1     9.00 us     9.00 us     9.00 us   1.5 GB/s  (copy)\n"
                   "  1.0%    1.00 us         1     1.00 us     1.00 us     1.00 us             (graph)\noccupancy: the most\n")
    expect("our profile", ours, {"add(int *)": (6000, 3), "copy": (9, 1), "graph": (1, 1)})
    expect("its first launches", first_launches("mulciber profile: GPU, 6.00 ms of work on the device, 1.50 ms of compiling on the host\n"), 1500)
    expect("a profile without them", first_launches("share total calls\n"), None)
    native = of_native("3000000\t3\t40\t8\tadd(int *)\n")
    expect("a native profile", native, {"add(int *)": (3000, 3, 40, 8)})
    expect("both", side_by_side(native, ours)[0],
           {"kernel": "add(int *)", "ours": 2000, "calls": 3, "native": 1000, "native calls": 3, "registers": 40, "local bytes": 8})


# Natively the manifest's command as it is; under this "Mulciber" the same with other times.
MULCIBER = """#!/bin/sh
[ "$1" = run ] || exit 9
shift
[ -e prepared ] || [ -z "$SLOW_AT_FIRST" ] || sleep 3
[ "$1" != --profile ] || { echo '2.00 ms of compiling on the host' >&2; echo '100.0%  6.00 ms  3  2.00 ms  1.00 ms  3.00 ms  25 %  add' >&2; shift; }
OURS=1 exec "$@"
"""
ENTRIES = {
    "level": "echo sum 1; echo time ${OURS:+1}0 us",
    "slow": "echo sum 1; echo time ${OURS:+4}00 us; echo time 100 us",
    "wrong": "echo sum ${OURS:-2}; echo time 10 us",
    "failing": "[ -z $OURS ] || exit 3",
    "hanging": "[ -z $OURS ] || exec sleep 60",
    "natively failing": "[ -n \"$OURS\" ] || exit 4",
    "late": "[ -n \"$OURS\" ] || [ ! -e wait ] || exec sleep 60; [ ! -e out.md ] || echo time 10 us",
    "timeless": "echo x >>timeless; echo sum 1",
    "unbuilt": "true",
}


def check_order(folder, manifest, command):
    texts = {"lazy": "sleep 0.3; echo lazy >>order; echo time 10 us", "prompt": "echo prompt >>order; echo time 10 us"}
    manifest.write_text(json.dumps([{"name": name, "command": ["sh", "-c", text]} for name, text in texts.items()]))
    subprocess.run(command, capture_output=True)
    expect("the quickest first", (folder / "order").read_text().split()[-4:], ["prompt", "prompt", "lazy", "lazy"])


def check_results(folder, manifest, command):
    texts = {"level": "echo sum 1; echo time 10 us", "wrong": "echo sum ${OURS:-2}",
             "unsteady": "echo x >>runs; echo $(wc -l <runs); echo sum 1", "hanging": "[ -z $OURS ] || exec sleep 60"}
    # One folder, one build: a second one beside it would find the lock.
    build = "mkdir lock && sleep 0.3 && rmdir lock && echo made >>builds"
    manifest.write_text(json.dumps([{"name": name, "command": ["sh", "-c", text], "build": build} for name, text in texts.items()]))
    (folder / "builds").unlink(missing_ok=True)
    result = subprocess.run([*command, "--results"], capture_output=True, text=True)
    programs = json.loads((folder / "out.json").read_text())["programs"]
    expect("results alone", {program["name"]: program["problem"] for program in programs},
           {"level": "", "wrong": "other result: sum 1 instead of sum 2", "unsteady": "", "hanging": "ours: 2.0 s passed"})
    expect("without times", [program["times"] for program in programs], [[]] * 4)
    expect("one build for all", (folder / "builds").read_text(), "made\n")
    expect("wrong results are an error", result.returncode, 1)


def running(folder):
    mulciber = folder / "mulciber"
    mulciber.write_text(MULCIBER)
    mulciber.chmod(0o755)
    entries = [{"name": name, "command": ["sh", "-c", text], "build": "touch built" if name != "unbuilt" else "echo no compiler >&2; false"}
               for name, text in ENTRIES.items()]
    entries[0]["command"][2] = "echo sum 1; echo time 10 us"
    entries[1]["command"][2] = "echo sum 1; echo time ${OURS:+4}00 us; echo other 100 us".replace("${OURS:+4}00", "$((100 + 300 * ${OURS:-0}))")
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps(entries))
    command = [sys.executable, SOURCES / "programs.py", mulciber, manifest, "--rounds", "2", "--seconds", "2", "--jobs", "3",
               "--profile", "0.5", "--json", folder / "out.json", "--markdown", folder / "out.md"]
    result = subprocess.run(command, capture_output=True, text=True)
    expect("wrong programs are an error", result.returncode, 1)
    programs = {program["name"]: program for program in json.loads((folder / "out.json").read_text())["programs"]}
    expect("built", (folder / "built").exists(), True)
    expect("problems", {name: program["problem"].split(": ")[:2] for name, program in programs.items() if program["problem"]},
           {"wrong": ["other result", "sum 1 instead of sum 2"], "failing": ["ours", "status 3"], "hanging": ["ours", "2.0 s passed"],
            "natively failing": ["native", "status 4"], "unbuilt": ["not built", "no compiler\n"]})
    expect("ratios", {name: [row["ratio"] for row in program["times"]] for name, program in programs.items() if program["times"]},
           {"level": [1.0], "slow": [0.25, 1.0]})
    expect("a slow program's kernels", programs["slow"]["kernels"], [{"kernel": "add", "ours": 2000, "calls": 3}])
    expect("what its first launches took", programs["slow"]["first launches"], 2000)
    expect("programs without times run once on each side", (folder / "timeless").read_text(), "x\nx\n")
    expect("others are not profiled", programs["level"]["kernels"], [])
    text = (folder / "out.md").read_text()
    expect("the summary", [line in text for line in ("| compared | 3 | 2 |", "| geometric mean | 0.63x | 0.71x |",
                                                     "| at least 0.80x | 67 % | 50 % |", "| below 0.50x | 1 | 0 |", "| wrong or failing | | 3 |")], [True] * 5)
    good = subprocess.run([*command, "--only", "level"], capture_output=True, text=True)
    expect("programs that are all right", good.returncode, 0)
    (folder / "out.json").unlink()
    late = subprocess.Popen([*map(str, command), "--only", "level", "late", "--seconds", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while "programs run" not in late.stderr.readline():
        pass
    (folder / "wait").touch()  # after the run that looks whether it ends natively
    time.sleep(0.5)
    late.terminate()
    expect("what is interrupted tells what it has", ("what follows was measured" in late.communicate()[1], (folder / "out.json").exists()), (True, True))
    slow = [*command, "--only", "level", "--seconds", "1"]
    at_first = {**os.environ, "SLOW_AT_FIRST": "1"}
    expect("a first run that takes too long", subprocess.run(slow, capture_output=True, env=at_first).returncode, 1)
    (folder / "wait").unlink()
    entries[0]["command"][2] += "; touch prepared"
    manifest.write_text(json.dumps(entries))
    given = subprocess.run([*slow, "--prepare-seconds", "20"], capture_output=True, env=at_first)
    expect("a first run that is given more time", given.returncode, 0)
    check_results(folder, manifest, command)
    check_order(folder, manifest, command)
    unknown = subprocess.run([*command, "--only", "nothing"], capture_output=True, text=True)
    expect("a name that is not there", (unknown.returncode, "not in the manifest: nothing" in unknown.stderr), (2, True))


if __name__ == "__main__":
    reading()
    comparing()
    kernels()
    with tempfile.TemporaryDirectory() as scratch:
        running(pathlib.Path(scratch))
    sys.exit(failures != 0)
