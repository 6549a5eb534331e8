#!/usr/bin/env python3
"""`mulciber run --trace`, `--profile` and `--explain`, progress, and `mulciber precompile`, with vector_add_driver.

usage: trace_test.py MULCIBER
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MULCIBER = sys.argv[1]
PROGRAM = pathlib.Path(MULCIBER).parent / "vector_add_driver"
failures = 0


def expect(what, holds, seen=""):
    global failures
    print(("right: " if holds else "wrong: ") + what + ("" if holds else f"\n  {seen}"))
    failures += not holds


def run(*arguments, folder, **environment):
    """Each cache is a fresh one unless the folder was used before."""
    variables = dict(os.environ, MULCIBER_CACHE_DIR=str(folder), **environment)
    return subprocess.run([MULCIBER, *map(str, arguments)], capture_output=True, text=True, env=variables)


def trace(at):
    path = at / "out.json"
    path.write_text("an older trace")
    result = run("run", "--trace", path, PROGRAM, "5000", folder=at / "trace")
    expect("a traced program prints what it always prints", result.returncode == 0 and result.stdout.startswith("5000 sums right on "), result)
    events = json.loads(path.read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    expect("spans have times", all(span["ts"] >= 0 and span["dur"] >= 0 for span in spans) and spans, spans)

    calls = [span for span in spans if span["cat"] == "api"]
    names = {call["name"] for call in calls}
    expect("calls have the names of API functions", all(re.fullmatch(r"cu[A-Z]\w+", name) for name in names), names)
    expect("the calls that the program makes", {"cuInit", "cuModuleLoadDataEx", "cuLaunchKernel"} <= names, names)
    for thread in {call["tid"] for call in calls}:
        ordered = sorted((call for call in calls if call["tid"] == thread), key=lambda call: call["ts"])
        expect("calls of a thread do not overlap",
               all(a["ts"] + a["dur"] <= b["ts"] + 0.002 for a, b in zip(ordered, ordered[1:])), ordered)

    kernels = [span for span in spans if span["cat"] == "kernel"]
    expect("the kernel", [kernel["name"] for kernel in kernels] == ["add"], kernels)
    kernel = kernels[0]
    threads = kernel["args"]["grid"][0] * kernel["args"]["block"][0]
    expect("its shape", 5000 <= threads < 5000 + kernel["args"]["block"][0], kernel)
    launch = next(call for call in calls if call["name"] == "cuLaunchKernel")
    wait = next(call for call in calls if call["name"].startswith(("cuCtxSynchronize", "cuMemcpyDtoH")))
    slack = 2 * max(json.loads(path.read_text())["otherData"]["device clocks were read within, in microseconds"])
    expect("it runs after its launch and before the end of what waits for it",
           launch["ts"] - slack <= kernel["ts"] and kernel["ts"] + kernel["dur"] <= wait["ts"] + wait["dur"] + slack, (launch, kernel, wait, slack))

    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    expect("each arrow has two ends", starts.keys() == ends.keys() and starts)
    arrow = next(number for number, end in ends.items() if abs(end["ts"] - kernel["ts"]) < 0.002 and end["pid"] == kernel["pid"])
    expect("the kernel's begins in its launch", launch["ts"] <= starts[arrow]["ts"] <= launch["ts"] + launch["dur"], (starts[arrow], launch))
    named = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    expect("host and device have names", named.get(kernel["pid"], "").startswith("device 0: ") and named.get(launch["pid"]) == "program", named)
    compiled = {span["name"] for span in spans if span["cat"] == "compile"}
    expect("translation and the driver's compilation", compiled == {"translate add", "compile add"}, compiled)

    children = run("run", "--trace", path, "sh", "-c", f"'{PROGRAM}' 10; '{PROGRAM}' 20", folder=at / "trace")
    traces = sorted(at.glob("out.json*"))
    expect("each process writes a trace", children.returncode == 0 and len(traces) == 2, traces)
    for file in traces:
        json.loads(file.read_text())
    nowhere = run("run", "--trace", at / "none/out.json", PROGRAM, "10", folder=at / "trace")
    expect("a trace that cannot be written", nowhere.returncode == 0 and "cannot be written to" in nowhere.stderr, nowhere)


def reports(at):
    result = run("run", "--profile", PROGRAM, "5000", folder=at / "profile")
    row = re.search(r"^ *([\d.]+)% +[\d.]+ \w+ +1 +[\d.]+ \w+ +[\d.]+ \w+ +[\d.]+ \w+ +(\d+) % +add$", result.stderr, re.M)
    expect("--profile: a row for the kernel", result.returncode == 0 and row and 0 < float(row[1]) <= 100 and 0 < int(row[2]) <= 100, result.stderr)

    result = run("run", "--explain", PROGRAM, "5000", folder=at / "explain")
    expect("--explain: denormals and the kernel", re.search(r"(?s)denormals: \w+.*kernel add: translated in [\d.]+ ms, \d+ words", result.stderr), result.stderr)
    result = run("run", "--explain", PROGRAM, "5000", folder=at / "explain")
    expect("--explain: from the cache", "kernel add: taken from the cache in " in result.stderr, result.stderr)
    result = run("run", PROGRAM, "5000", folder=at / "explain")
    expect("nothing is printed unasked", result.stderr == "", result.stderr)


def precompile(at):
    static = PROGRAM.with_name("vector_add_static")
    if not static.exists():
        print("skipped: precompile, because nvcc was not there to build vector_add_static")
        return
    result = run("precompile", "--block", "256", static, folder=at / "ahead")
    expect("precompile", result.returncode == 0 and result.stdout == "1 kernels translated, 1 compiled for a block size, 0 failed\n", result)
    result = run("run", "--explain", static, "5000", folder=at / "ahead")
    expect("the program's start takes them from the cache", result.returncode == 0 and re.search(r"kernel \w*add\w*: taken from the cache", result.stderr), result.stderr)
    for arguments, status, said in ((["--block", "0", static], 2, "'0' is no block size"), ([at / "none"], 1, "none"),
                                    (["-k", "no", static], 1, "holds no kernel named 'no'")):
        result = run("precompile", *arguments, folder=at / "ahead")
        expect(f"precompile: {said}", result.returncode == status and said in result.stderr, result)


def progress(at):
    """Many large kernels: each is a long chain of sums. Translating all of them takes seconds here."""
    body = "".join(f"fma.rn.f32 %f{i % 7}, %f{(i + 3) % 7}, %f{(i + 5) % 7}, %f{i % 7};\n" for i in range(6000))
    start = "".join(f"mov.f32 %f{i}, %f0;\n" for i in range(1, 7))
    kernel = ".visible .entry kNUMBER(.param .u64 out) { .reg .f32 %f<8>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [out];\n" \
             f"ld.global.f32 %f0, [%rd1];\n{start}{body}st.global.f32 [%rd1], %f3; ret; }}\n"
    asked = {"MULCIBER_PROGRESS": "1", "MULCIBER_CACHE_MAX_MB": "2048"}  # 384 kernels are more than the cache usually keeps
    for count in (24, 96, 384):
        ptx, cache = at / f"many{count}.ptx", at / f"many{count}"
        ptx.write_text(".version 7.0\n.target sm_70\n.address_size 64\n" + "".join(kernel.replace("NUMBER", str(i)) for i in range(count)))
        result = run("precompile", ptx, folder=cache, **asked)
        lines = re.findall(r"^mulciber: \d+ kernels compiled so far, \d+ s;", result.stderr, re.M)
        if lines:
            break
    expect("progress is told where compiling takes seconds", result.returncode == 0 and lines, result)
    result = run("precompile", ptx, folder=cache, **asked)
    expect("and not when the cache has it all", result.returncode == 0 and result.stderr == "", result)


with tempfile.TemporaryDirectory() as folder:
    at = pathlib.Path(folder)
    for test in (trace, reports, precompile, progress):
        test(at)
sys.exit(1 if failures else 0)
