#!/usr/bin/env python3
"""The mulciber command: what it prints, its exit status, and one clear line for each kind of bad input.

usage: command_test.py MULCIBER FAKE_DRIVER [DEVICE]   DEVICE: a Vulkan device is expected to be there
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MULCIBER, FAKE_DRIVER = sys.argv[1:3]
BIN = pathlib.Path(MULCIBER).parent
DATA = pathlib.Path(__file__).parent.parent / "fatbin/data"
KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry one(.param .u64 out) { .reg .b64 %rd1; ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 1; ret; }
.visible .entry two() { ret; }
"""
failures = 0


def run(*arguments, input=None, **environment):
    variables = {k: v for k, v in dict(os.environ, **environment).items() if v is not None}
    return subprocess.run([MULCIBER, *map(str, arguments)], capture_output=True, text=True, env=variables, input=input)


def check(what, result, status, out="", err="", lines=None):
    global failures
    wrong = []
    if status is not None and result.returncode != status:
        wrong.append(f"status {result.returncode} and not {status}")
    if not re.search(out, result.stdout):
        wrong.append(f"no '{out}' on standard output")
    if not re.search(err, result.stderr):
        wrong.append(f"no '{err}' on standard error")
    if lines is not None and len(result.stderr.splitlines()) != lines:
        wrong.append(f"{len(result.stderr.splitlines())} lines on standard error and not {lines}")
    if "\033" in result.stdout + result.stderr:
        wrong.append("colours, though this is no terminal")
    print(("wrong: " if wrong else "right: ") + what)
    if wrong:
        failures += 1
        print(f"  {'; '.join(wrong)}\n  stdout: {result.stdout[:800]}\n  stderr: {result.stderr[:800]}")


def damaged(program, before, after, copy):
    """A copy of the program in which one string of bytes is another."""
    contents = program.read_bytes()
    assert before in contents and len(before) == len(after)
    shutil.copy(program, copy)
    copy.write_bytes(contents.replace(before, after))
    return copy


def no_device(at):
    """Each way to have no device: CUDA's code for the program, one line for its user, and advice from the doctor."""
    def fake(kind):
        driver = at / "fake.json"
        driver.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": FAKE_DRIVER, "api_version": "1.3.0"}}))
        return {"VK_DRIVER_FILES": str(driver), "FAKE_DRIVER": kind}

    missing = {"VK_DRIVER_FILES": str(at / "none.json"), "VK_ICD_FILENAMES": str(at / "none.json")}
    program = BIN / "vector_add_driver"
    for what, environment, reason, advice in (
        ("without a driver", missing, "no Vulkan driver was found: install", "lavapipe"),
        ("without a device", fake("none"), "no Vulkan driver offers a device: install", "lavapipe"),
        ("with a device too old", fake("old"), r"Fake: it has Vulkan 1\.2, 1\.3 is needed", "a newer driver"),
        ("with a driver known to be wrong", fake("wrong"), r"Fake: Mesa 22\.3\.6 \(LLVM 15\.0\.6\) is known to compute wrong results", "a newer driver"),
        ("with a device too poor", fake("poor"), "Fake: it lacks the features .*bufferDeviceAddress.*: install a newer", "a newer driver"),
        ("with every device left out", {**fake("poor"), "MULCIBER_DEVICE": "another"}, "Fake: MULCIBER_DEVICE leaves it out.*: unset", "unset"),
    ):
        check(f"info {what}", run("info", **environment), 1, err=reason, lines=2)
        check(f"doctor {what}", run("doctor", **environment), 1, out=f"(?s)(?=.*bad )(?=.*{advice})", lines=0)
        check(f"a program {what}", run("run", program, **environment), 1, err=f"{reason}.*\n.*(?i:no CUDA-capable device)", lines=2)
    result = run("doctor", "--json", **missing)
    check("doctor as JSON", result, 1, out='"healthy": false')
    json.loads(result.stdout)


def bad_programs(at):
    """Programs with something wrong in them, on a device."""
    program = damaged(BIN / "vector_add_driver", b"ld.global.f32 %x", b"ld.glibal.f32 %x", at / "bad_ptx")
    check("a program with a PTX syntax error", run("run", program), 1, err=r"(?s)ptx:\d+:\d+: error: .*glibal.*PTX")
    if not (BIN / "vector_add_shared").exists():
        print("skipped: damaged and stripped CUDA programs, because nvcc was not there to build them")
        return
    contents = (BIN / "vector_add_shared").read_bytes()
    entry = contents.rfind(b"\x50\xed\x55\xba") + 16
    size = contents[entry + 8:entry + 16]
    program = damaged(BIN / "vector_add_shared", contents[entry:entry + 8] + size, contents[entry:entry + 8] + b"\xff" * 8, at / "corrupt")
    check("a program with a corrupt fat binary", run("run", program), 1, err="corrupt fat binary: .*\n.*the kernel _Z3add.* cannot be loaded: .*\n.*image", lines=3)
    if shutil.which("strip"):
        shutil.copy(BIN / "vector_add_static", at / "stripped")
        subprocess.run(["strip", at / "stripped"], check=True)
        check("a stripped static program", run("run", at / "stripped"), 0, out="sums right", lines=0)


def findings(*arguments):
    result = run("check", "--json", "-p", "vulkan1.3", *arguments)
    return result, [(finding["verdict"], finding["subject"], finding["text"]) for finding in json.loads(result.stdout)["findings"]]


def checked_programs(at):
    """What `mulciber check` says of programs made for it."""
    cc, nvcc = shutil.which("cc"), shutil.which("nvcc")
    if not cc:
        print("skipped: programs to check, because there is no C compiler")
        return
    # Its libraries: one that is not there when it is checked, and a function that Mulciber does not implement.
    (at / "gone.c").write_text("int gone(void) { return 0; }")
    (at / "calls.c").write_text("int cuTensorMapEncodeTiled(void); int gone(void); int main(void) { return cuTensorMapEncodeTiled() + gone(); }")
    subprocess.run([cc, "-shared", "-o", at / "libgone.so", at / "gone.c"], check=True)
    subprocess.run([cc, "-o", at / "calls", at / "calls.c", f"-L{at}", "-lgone", f"-L{BIN.parent / 'lib'}", "-l:libcuda.so.1", "-Wl,--allow-shlib-undefined"], check=True)
    (at / "libgone.so").unlink()
    (at / "own").mkdir()
    for name in ("libcudart.so.13", "libcudart.so.9"):
        subprocess.run([cc, "-shared", "-o", at / "own" / name, at / "gone.c", f"-Wl,-soname,{name}"], check=True)
        (at / "main.c").write_text("int gone(void); int main(void) { return gone(); }")
        subprocess.run([cc, "-o", at / "beside", at / "main.c", f"-L{at}/own", f"-l:{name}", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/own"], check=True)
        result, found = findings(at / "beside")
        wanted = ("ok", name + ": Mulciber's") if name.endswith("13") else ("bad", name + ": Mulciber has none of this version")
        check(f"check: a program with {name} on a path of its own {found}", result, None if (wanted[0], "library", wanted[1]) in found else -1)
    result, found = findings(at / "calls")
    check("check: a library that is not there", result, 1, out='"runs": false')
    check(f"check: its name {found}", result, 1 if ("bad", "library", "libgone.so is not found") in found else -1)
    check(f"check: a function that is not implemented {found}", result,
          1 if ("note", "functions", "1 of 1 called are not implemented: cuTensorMapEncodeTiled") in found else -1)
    (at / "transforms.c").write_text("int cufftCreate(int*); int cufftXtSetCallback(void); int main(void) { return cufftCreate(0) + cufftXtSetCallback(); }")
    subprocess.run([cc, "-o", at / "transforms", at / "transforms.c", f"-L{BIN.parent / 'lib'}", "-l:libcufft.so.11", "-Wl,--allow-shlib-undefined"], check=True)
    result, found = findings(at / "transforms")
    wanted = [("ok", "library", "libcufft.so.11: Mulciber's"), ("note", "functions", "1 of 2 called are not implemented: cufftXtSetCallback")]
    check(f"check: functions of cuFFT {found}", result, None if all(finding in found for finding in wanted) else -1)
    if not nvcc:
        print("skipped: CUDA programs to check, because there is no nvcc")
        return
    source = pathlib.Path(__file__).parent / "static_runtime.cu"

    def built(name, *options):
        subprocess.run([nvcc, *options, source, "-o", at / name], check=True, capture_output=True)
        return at / name

    program = built("with_ptx", "-arch=compute_75")
    result, found = findings(program)
    texts = [text for _, _, text in found]
    check(f"check: a program with a static runtime {found}", result, 0 if texts[:2] == ["1 module with PTX for compute_75", "1 of 1 can be translated"] else -1,
          out=r"static runtime, whose \d+ functions are known by their symbols")
    subprocess.run(["strip", program], check=True)
    stripped, same = findings(program)
    check(f"check: the same, stripped {same}", stripped, 0, out=r"static runtime, whose \d+ functions are known without symbols")
    called = [text for _, subject, text in found + same if subject == "functions"]
    check(f"check: the functions it calls {called}", stripped, 0 if len(called) == 2 and called[0] == called[1] and "all implemented" in called[0] else -1)
    (at / "mute").write_bytes(program.read_bytes().replace(b"cuda", b"cudb"))
    check("check: a runtime that is not known", findings(at / "mute")[0], 1, out="its static CUDA runtime is not known: it shows no function names")
    check("check: linked relocatable code", findings(built("relocatable", "-arch=compute_75", "-rdc=true"))[0], 0,
          out=r"(\d+) of \1 can be translated")
    check("check: machine code alone", findings(built("without_ptx", "-gencode", "arch=compute_90,code=sm_90"))[0], 1,
          out="1 function without PTX, such as _Z6kernelPfi, for sm_90 alone")


def install_folders(at):
    """Paths that the dynamic linker takes for several, or for others: it gets a symbolic link in a folder that is the user's alone."""
    cache, runtime, temporary = at / "own cache", at / "runtime", at / "temporary"
    for name in ("a space", "a:colon", "a;semicolon", "a$LIB"):
        copy = at / name / "bin/mulciber"
        copy.parent.mkdir(parents=True)
        shutil.copy(MULCIBER, copy)
        (at / name / "lib").symlink_to(BIN.parent / "lib")
    runtime.mkdir()
    temporary.mkdir()
    folders = {"XDG_CACHE_HOME": str(at / "cache"), "HOME": str(cache), "XDG_RUNTIME_DIR": str(runtime), "TMPDIR": str(temporary)}

    def start(name, *arguments, **environment):
        return subprocess.run([at / name / "bin/mulciber", *arguments], capture_output=True, text=True, env={**os.environ, **folders, **environment})

    def said(what, name, place, **environment):
        """A program in it has our libraries, by a link in that place."""
        show = "echo $LD_PRELOAD; echo $LD_AUDIT; echo $LD_LIBRARY_PATH; grep -c -m1 libmulciber_audit.so /proc/self/maps"
        result = start(name, "run", "sh", "-c", show, **environment)
        link = r"(%s/\w{16})" % re.escape(str(place))
        check(f"run: {what}", result, 0, lines=0, out=rf"^{link}/libmulciber_audit.so\n\1/libmulciber_audit.so(:.*)?\n\1(:.*)?\n1\n$")
        links = [os.readlink(link) for link in place.iterdir()] if place.exists() else []
        check(f"run: {what}: the link {links}", result, 0 if str(at / name / "lib") in links and place.stat().st_mode & 0o777 == 0o700 else -1)

    links = at / "cache/mulciber/libraries"
    together = [subprocess.Popen([at / "a space/bin/mulciber", "run", "true"], env={**os.environ, **folders}, stderr=subprocess.PIPE, text=True)
                for _ in range(8)]
    errors = {process.communicate()[1] for process in together}
    check(f"run: eight at once in a new cache {errors}", run("--version"), 0 if errors == {""} and len(list(links.iterdir())) == 1 else -1)
    for name in ("a space", "a:colon", "a;semicolon", "a$LIB"):
        said(f"installed in '{name}'", name, links)
    check("doctor installed in 'a space'", start("a space", "doctor"), None, out=f"ok +libraries +all in {at}/a space/lib, which programs reach by {links}/")
    check("doctor under it", start("a space", "run", at / "a space/bin/mulciber", "doctor"), None, out="LD_LIBRARY_PATH has Mulciber's folder")
    check("check installed in 'a:colon'", start("a:colon", "check", "-p", "vulkan1.3", BIN / "vector_add_driver"), 0, out=r"libcuda\.so\.1: Mulciber's", lines=0)

    for link in list(links.iterdir()):
        link.unlink()
        link.symlink_to("/nowhere")
    said("a link that leads elsewhere is made again", "a space", links)
    links.chmod(0o777)
    said("a folder that others can write into is left alone", "a space", runtime / "mulciber/libraries")
    links.chmod(0o700)
    links.rename(at / "moved")
    links.symlink_to(at / "moved")
    said("so is one that is a link", "a space", runtime / "mulciber/libraries")
    spoilt = {"XDG_CACHE_HOME": str(links), "HOME": "", "XDG_RUNTIME_DIR": ""}
    (at / "moved/mulciber").touch()
    said("without another folder, the one for temporary files", "a space", temporary / f"mulciber-{os.geteuid()}", **spoilt)
    temporary.chmod(0o777)
    for what, status, where in ("run", 125, "err"), ("doctor", 1, "out"):
        check(f"{what}: no folder for a link", start("a space", what, *(["true"] if what == "run" else []), **spoilt), status,
              **{where: "(?s)a space/lib cannot be named in LD_PRELOAD.*Not a directory.*set XDG_CACHE_HOME to a folder"})


def odd_arguments():
    """The program gets every argument as it is, wherever it stands."""
    odd = ["[a,b]", "[]", "[[x]]", "[", "]", "{a,b}", "", " ", "--", "-", "-h", "--help", "--version", "--json", "run", "doctor", "a=b",
           "--flag=[1,2]", "-x", "-abc", "'", '"', "\\", "\n", "\t", "%s", "{}", "$HOME", "*", "~", "#", ";", "ü", b"\xff\xfe"]
    show = (sys.executable, "-c", "import os, sys; sys.stdout.write(ascii(list(map(os.fsencode, sys.argv[1:]))))")
    lists = [[argument] for argument in odd] + [odd, odd[::-1]] + [["first", argument, argument] for argument in odd]
    for separator in ([], ["--"]):
        wrong = []
        for arguments in lists:
            result = subprocess.run([MULCIBER, "run", *separator, *show, *arguments], capture_output=True, text=True)
            expected = ascii([a if isinstance(a, bytes) else os.fsencode(a) for a in arguments])
            if result.stdout != expected:
                wrong.append(f"{arguments} arrived as {result.stdout} {result.stderr}")
        check(f"run: odd arguments behind {separator} {wrong[:3]}", run("--version"), 0 if not wrong else -1)
    check("run: a program whose name is a list", run("run", "[a,b]"), 127, err=r"'\[a,b\]' is not there", lines=1)


def main():
    check("help", run("--help"), 0, out="translate.*\n")
    check("version", run("--version"), 0, out=r"mulciber \d")
    check("no command", run(), 2)
    check("unknown command", run("fly"), 2, err="'fly' is no command; the commands are run, precompile, translate, check, info, doctor", lines=1)
    check("misspelt command", run("translat", "x.ptx"), 2, err="'translat' is no command; did you mean 'translate'", lines=1)

    check("an option that is none", run("--bogus"), 2, err="'--bogus' is no option", lines=1)
    check("a dash for a command", run("-"), 2, err="'-' is no option", lines=1)

    check("run: nothing to run", run("run"), 2)
    check("run: not there", run("run", "/no/such/program"), 127, err="/no/such/program", lines=1)
    check("run: exit status", run("run", "--", "sh", "-c", "exit 7"), 7)
    odd_arguments()
    check("run: Triton is told to write no instructions of warpgroups", run("run", "sh", "-c", "echo $TRITON_OVERRIDE_ARCH"), 0, out="^sm89$")
    check("run: unless it is told otherwise", run("run", "sh", "-c", "echo $TRITON_OVERRIDE_ARCH", TRITON_OVERRIDE_ARCH="sm80"), 0, out="^sm80$")
    check("run: an option of its own that it lacks", run("run", "--version", "echo"), 2, err="--version")
    check("run: its help", run("run", "--help"), 0, out=r"(?s)^Run a CUDA.*program")

    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        (at / "k.ptx").write_text(KERNEL)
        (at / "bad.ptx").write_text(KERNEL.replace("st.global", "sst.global"))
        (at / "empty").write_text("")
        (at / "text").write_text("hello")
        damaged = bytearray((DATA / "size.fatbin").read_bytes())
        damaged[90:] = b"\xff" * (len(damaged) - 90)
        (at / "damaged.fatbin").write_bytes(damaged)
        (at / "plain.sh").write_text("echo")

        check("translate: a kernel", run("translate", at / "k.ptx", "--kernel", "one", "-o", at / "one.spv"), 0)
        if (at / "one.spv").exists() and (at / "one.spv").read_bytes()[:4] != b"\x03\x02\x23\x07":
            check("translate: it is SPIR-V", run("--version"), -1)
        check("translate: as text", run("translate", at / "k.ptx", "--kernel", "one", "--text"), 0, out="OpEntryPoint")
        check("translate: a folder of kernels", run("translate", at / "k.ptx", "-o", at / "out"), 0)
        check("translate: profile", run("translate", at / "k.ptx", "-k", "two", "-p", "lavapipe", "--text"), 0, out="OpEntryPoint")
        check("translate: a stage", run("translate", at / "k.ptx", "-k", "one", "--dump", "ptx"), 0, out=r"\.entry one")
        result = run("translate", at / "k.ptx", "--json")
        check("translate: as JSON", result, 0)
        if result.returncode == 0:
            kernels = json.loads(result.stdout)
            check("translate: JSON names the kernels", result, 0 if [k["name"] for k in kernels] == ["one", "two"] else -1)
        check("translate: a fat binary", run("translate", DATA / "balance.fatbin", "--text"), 0, out='"scale"|%scale|OpEntryPoint')
        check("translate: syntax error", run("translate", at / "bad.ptx"), 1, err=r"bad\.ptx:4:\d+.*sst")
        check("translate: no such file", run("translate", at / "none.ptx"), 1, err="none.ptx", lines=1)
        (at / "large.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n.global .b8 a[2000000000] = {1}, b[1999999999] = {1};\n.entry k() { ret; }\n")
        little = subprocess.run(["bash", "-c", f"ulimit -v 500000; exec '{MULCIBER}' translate '{at / 'large.ptx'}' --text"], capture_output=True, text=True)
        check("translate: too little memory", little, 1, err="not enough memory", lines=1)
        check("translate: empty file", run("translate", at / "empty"), 1, err="empty", lines=1)
        check("translate: not PTX", run("translate", at / "text"), 1, err="neither PTX", lines=1)
        check("translate: damaged fat binary", run("translate", at / "damaged.fatbin"), 1, err="corrupt fat binary", lines=1)
        check("translate: machine code only", run("translate", DATA / "machine_code_only.fatbin"), 1, err="machine code sm_75", lines=1)
        check("translate: no such kernel", run("translate", at / "k.ptx", "-k", "three"), 1, err="three", lines=1)
        check("translate: no such profile", run("translate", at / "k.ptx", "-p", "none"), 1, err="none", lines=1)
        check("translate: no kernel argument", run("translate"), 2)

        check("translate: a folder", run("translate", at), 1, err="Is a directory", lines=1)
        library = ("translate", at / "k.ptx", "-p", "lavapipe", "-p", "nvidia", "--library")
        check("translate: a library of kernels", run(*library, at / "lib"), 0, lines=0)
        check("translate: the same library again", run(*library, at / "more"), 0)
        check("translate: it is the same bytes", run("--version"), 0 if (at / "lib.kernels").read_bytes() == (at / "more.kernels").read_bytes() else -1)
        reflection = json.loads((at / "lib.json").read_text())
        check(f"translate: what it says of itself, not {reflection}", run("--version"), 0 if reflection["profiles"] == ["lavapipe", "nvidia"]
              and [(k["identifier"], k["kinds"]) for k in reflection["kernels"]] == [("one", ["integer"]), ("two", [])] else -1)
        (at / "f64.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .f64 %d; "
                                    ".reg .b64 %a; ld.param.u64 %a, [p]; ld.global.f64 %d, [%a]; add.f64 %d, %d, %d; st.global.f64 [%a], %d; ret; }")
        check("translate: a library for every device", run("translate", at / "f64.ptx", "--library", at / "every"), 0, lines=0)
        profiles = json.loads((at / "every.json").read_text())["profiles"]
        check(f"translate: the profiles of one, not {profiles}", run("--version"), 0 if profiles[:2] == ["nvidia", "lavapipe"] and len(profiles) > 2 else -1)
        check("translate: several profiles without it", run("translate", at / "k.ptx", "-p", "lavapipe", "-p", "nvidia"), 2, err="--library", lines=1)
        check("translate: a library of bad PTX", run("translate", at / "bad.ptx", "--library", at / "bad"), 1, err=r"bad\.ptx:4")
        check("translate: a library into no folder", run("translate", at / "k.ptx", "--library", at / "no/lib"), 1, err="cannot write '.*no/lib.kernels'", lines=1)
        check("translate: a folder as profile", run("translate", at / "k.ptx", "-p", at), 1, err="readable", lines=1)
        check("translate: standard input", run("translate", "-", "-k", "one", "--text", input=KERNEL), 0, out="OpEntryPoint")
        whole = subprocess.run([MULCIBER, "translate", "-", "-k", "one", "-o", "-"], input=KERNEL.encode(), capture_output=True)
        check("translate: standard output", run("--version"), 0 if whole.stdout == (at / "one.spv").read_bytes() else -1)
        check("translate: a variable that is none", run("translate", at / "k.ptx", "--json", MULCIBER_LGO="debug"), 0,
              err="MULCIBER_LGO is no variable of Mulciber's; did you mean 'MULCIBER_LOG'", lines=1)
        check("translate: wrong standard input", run("translate", "-", input="hello"), 1, err="neither PTX", lines=1)
        long = ["_Z" + "x" * 400 + end for end in ("a", "b")]
        (at / "long.ptx").write_text(KERNEL.replace("one", long[0]).replace("two", long[1]))
        check("translate: names longer than those of files", run("translate", at / "long.ptx", "-o", at / "long"), 0)
        stems = {path.name[:100] for path in (at / "long").iterdir()}
        if len(list((at / "long").iterdir())) != 2 or stems != {long[0][:100]}:
            check(f"translate: a file for each of them, not {list((at / 'long').iterdir())}", run("--version"), -1)
        check("translate: a full disk", run("translate", at / "k.ptx", "-k", "one", "-o", "/dev/full"), 1, err="cannot write '/dev/full'", lines=1)
        for what in (["translate", at / "k.ptx", "-k", "one", "--text"], ["translate", at / "k.ptx", "--json"], ["doctor", "--json"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([MULCIBER, *map(str, what)], stdout=full, stderr=subprocess.PIPE, text=True)
            check(f"{what[0]}: standard output on a full disk", subprocess.CompletedProcess([], result.returncode, "", result.stderr), 1,
                  err="cannot write to standard output: No space left", lines=1)
        check("check: PTX", run("check", "-p", "vulkan1.3", at / "k.ptx"), 0, out="^ok +kernels +2 of 2 can be translated\n$", lines=0)
        (at / "odd.ptx").write_text(KERNEL.replace("ret; }\n.visible", "tcgen05.fence::before_thread_sync; ret; }\n.visible", 1))
        check("check: a kernel that cannot be translated", run("check", "-p", "vulkan1.3", at / "odd.ptx"), 1,
              out=r"bad +kernels +\d cannot be translated, such as .*: .*tcgen05", lines=0)
        check("check: a fat binary", run("check", "-p", "vulkan1.3", DATA / "balance.fatbin"), 0, out="1 of 1 can be translated")
        check("check: machine code only", run("check", "-p", "vulkan1.3", DATA / "machine_code_only.fatbin"), 1, err="machine code sm_75", lines=1)
        check("check: not PTX", run("check", "-p", "vulkan1.3", at / "text"), 1, err="neither PTX", lines=1)
        check("check: no such file", run("check", at / "none"), 1, err="none' cannot be read", lines=1)
        check("check: a program without CUDA", run("check", "-p", "vulkan1.3", "/bin/true"), 0, out="^ok +device code +none of its own\n$", lines=0)
        check("check: a program of the driver API", run("check", "-p", "vulkan1.3", BIN / "vector_add_driver"), 0,
              out=r"(?s)functions +\d+ called, all implemented.*library +libcuda\.so\.1: Mulciber's", lines=0)
        checked_programs(at)
        install_folders(at)
        check("doctor: nowhere for the cache", run("doctor", HOME=None, XDG_CACHE_HOME=None, MULCIBER_CACHE_DIR=None), None,
              out="HOME is not set.*\n.*set HOME, XDG_CACHE_HOME or MULCIBER_CACHE_DIR")
        check("translate: no such stage", run("translate", at / "k.ptx", "--dump", "none"), 1, err="the stages are ptx, .*spirv", lines=1)

        no_device(at)

    if "DEVICE" in sys.argv:
        check("info", run("info"), 0, out="compute capability")
        result = run("info", "--json")
        check("info as JSON", result, 0, out='"devices"')
        json.loads(result.stdout)
        check("doctor", run("doctor"), 0, out="ok .*Vulkan device")
        for program in ("vector_add_driver", "vector_add_static", "vector_add_shared"):
            if (BIN / program).exists():
                check(program, run("run", BIN / program, "5000"), 0, out="^5000 sums right on ")
            else:
                print(f"skipped: {program}, because nvcc was not there to build it")
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            check("dumps of the stages", run("run", BIN / "vector_add_driver", "100", MULCIBER_DUMP=str(at / "dump")), 0)
            stages = sorted(path.name for path in (at / "dump").iterdir())
            if not stages or not re.fullmatch(r"add-\w{8}\.00\.ptx", stages[0]) or not stages[-1].endswith(".spirv"):
                check(f"dumps of the stages, not {stages}", run("--version"), -1)
            bad_programs(at)
    sys.exit(1 if failures else 0)


main()
