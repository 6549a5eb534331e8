"""What a program printed: its times, and its results with the times taken out; and whether two runs gave the same."""
import re

NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"  # matches in one way only, or lines of many numbers take for ever
MICROSECONDS = {"ns": 1e-3, "nanoseconds": 1e-3, "us": 1, "µs": 1, "usec": 1, "usecs": 1, "microsec": 1, "microseconds": 1,
                "ms": 1e3, "msec": 1e3, "msecs": 1e3, "millisec": 1e3, "milliseconds": 1e3,
                "s": 1e6, "sec": 1e6, "secs": 1e6, "second": 1e6, "seconds": 1e6}
UNIT = "|".join(sorted(MICROSECONDS, key=len, reverse=True))
# "12.5 us", "12.5 (us)", "time [ms]: 3", "time in seconds = 0.1"
TIME = re.compile(rf"(?<![\w.])(?P<value>{NUMBER})\s*(?P<open>[\[(]?)(?P<unit>{UNIT})\b[\])]?(?!/)"
                  rf"|(?<!/)[\[(]?\b(?P<unit_first>{UNIT})[\])]?\s*[:=]\s*(?P<value_after>{NUMBER})(?![\w.])")
# Numbers that are made of times, and times that no device has a part in.
RATE = re.compile(r"/\s*s(ec(ond)?)?\b|flop/?s|flops|iops|bandwidth|throughput|per second|speed-?up|[\d.]+\s*[MG]Hz|\bfps\b", re.IGNORECASE)
# Times without a unit: "Kernel time : 0.2", "Total clocks = 9"; but no "time step: 3".
TIMELIKE = re.compile(r"\b(time|times|timing|took|elapsed|clocks?|cycles|latency|duration|efficiency)\b(?!\s*(steps?|points?)\b)[^:=\d]*[:=]\s*[-+\d.]",
                      re.IGNORECASE)
# "4.2 3.3 <time>": what stands beside a time is one too.
LONGEST = 1000  # characters of a line with times: the searches for them take its square
BESIDE_TIME = re.compile(rf"(?:{NUMBER}[\s,/|]+)+<time>")
PLACE = "\0"  # of a number in a line; of no use in texts
HOST = re.compile(r"\b(cpu|on (the )?host|host (time|execution|implementation|code)|reference|serial)\b", re.IGNORECASE)


class Output:
    """times: {label: microseconds}; results: the lines, each a text and its numbers."""

    def __init__(self, text, times=None, results=None):
        """times: a regular expression with the groups value or rate, and label and unit if it likes; results: one that says
        which lines are compared. Without them every number with a unit of time is a time, and all lines count."""
        self.times, self.results = {}, []
        self.labels = {}
        own = re.compile(times) if times else None
        chosen = re.compile(results) if results else None
        for line in text.replace(PLACE, "").splitlines():
            rest, is_result = line.strip(), True
            if len(rest) <= LONGEST:
                rest = BESIDE_TIME.sub("<time>", self._take_times(rest, own))
                is_result = chosen.search(line) if chosen else not (RATE.search(rest) or TIMELIKE.search(rest))
            if rest and is_result:
                numbers = [float(number) for number in re.findall(NUMBER, rest)]
                self.results.append((re.sub(r"\s+", " ", re.sub(NUMBER, PLACE, rest)), numbers))

    def _take_times(self, line, own):
        found = list((own or TIME).finditer(line))
        rest = line
        for match in reversed(found):
            rest = rest[:match.start()] + "<time>" + rest[match.end():]
        for match in found:
            groups = match.groupdict()
            unit = groups.get("unit") or groups.get("unit_first") or "s"
            value = groups.get("value") or groups.get("value_after")
            if value:
                value = float(value) * MICROSECONDS[unit]
            else:  # a rate: the time of one, in seconds
                value = 1e6 / float(groups["rate"])
            label = (groups.get("label") or rest.replace("<time>", "")).strip(" :=,.()[]")
            if HOST.search(line) and not own:
                continue
            if RATE.search(label):
                label = re.sub(NUMBER, "", label)  # they differ from run to run
            label = re.sub(r"\s+", " ", label) or "time"
            self.labels[label] = self.labels.get(label, 0) + 1
            self.times[label if self.labels[label] == 1 else f"{label} ({self.labels[label]})"] = value
        return rest


def close(a, b, tolerance):
    return a == b or a != a and b != b or abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-3)


def same_line(a, b, tolerance):
    return a[0] == b[0] and len(a[1]) == len(b[1]) and all(close(x, y, tolerance) for x, y in zip(a[1], b[1]))


def shown(line):
    numbers = iter(line[1])
    return re.sub(PLACE, lambda _: f"{next(numbers):.9g}", line[0])


def difference(native, ours, tolerance=1e-4):
    """What ours printed otherwise, or "". Lines in which native runs differ among themselves say nothing."""
    first = native[0].results
    if any(len(other.results) != len(first) for other in native[1:]):
        return ""
    for output in ours:
        if len(output.results) != len(first):
            return f"{len(output.results)} lines instead of {len(first)}"
        for i, (expected, line) in enumerate(zip(first, output.results)):
            steady = all(same_line(expected, other.results[i], tolerance) for other in native[1:])
            if steady and not same_line(expected, line, tolerance):
                return f"{shown(line)[:120]} instead of {shown(expected)[:120]}"
    return ""
