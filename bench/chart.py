"""A bar chart as SVG, readable on light and dark pages, with nothing but the standard library."""
import math
from xml.sax.saxutils import escape

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 }
.group { font-weight: 600 }
.quiet { fill: #6e7781 }
.grid { stroke: #d0d7de }
.one { stroke: #57606a; stroke-width: 1.5 }
.wrong { fill: #cf222e; font-weight: 600 }
.faster { fill: #2da44e } .level { fill: #54a3ff } .slower { fill: #d4760a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .quiet { fill: #8d96a0 } .grid { stroke: #30363d } .one { stroke: #8d96a0 }
}
"""
LABELS, PLOT, VALUES = 210, 430, 60  # widths
LINE = 18
LEAST, MOST = 0.25, 2.0  # ratios at the ends of the logarithmic axis


def chart(header, rows, groups):
    """Bars of native time / our time around 1.0, by group, the best first."""
    def x(ratio):
        ratio = min(max(ratio, LEAST), MOST)
        return LABELS + PLOT * math.log(ratio / LEAST) / math.log(MOST / LEAST)

    parts, y = [], 58
    for group in groups:
        members = sorted((row for row in rows if row["group"] == group), key=lambda row: -(row["ratio"] or 0))
        if not members:
            continue
        ratios = [row["ratio"] for row in members if row["ratio"]]
        mean = f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}x" if ratios else ""
        y += 10
        parts.append(f'<text class="group" x="12" y="{y + 13}">{escape(group)}</text>')
        parts.append(f'<text class="quiet" x="{LABELS + PLOT + 8}" y="{y + 13}">{mean}</text>')
        y += LINE
        for row in members:
            ratio = row["ratio"]
            parts.append(f'<text x="{LABELS - 8}" y="{y + 13}" text-anchor="end">{escape(row["name"])}</text>')
            if not ratio:
                parts.append(f'<text class="wrong" x="{x(1) + 6:.1f}" y="{y + 13}">{escape(row["problem"])}</text>')
                y += LINE
                continue
            kind = "faster" if ratio > 1.02 else "level" if ratio >= 0.98 else "slower"
            left, right = sorted((x(1), x(ratio)))
            parts.append(f'<rect class="{kind}" x="{left:.1f}" y="{y + 3}" width="{max(right - left, 1.5):.1f}" '
                         f'height="{LINE - 6}" rx="2"/>')
            parts.append(f'<text x="{LABELS + PLOT + 8}" y="{y + 13}">{ratio:.2f}x</text>')
            y += LINE
    grid = []
    for ratio in (0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0):
        at = x(ratio)
        grid.append(f'<line class="{"one" if ratio == 1 else "grid"}" x1="{at:.1f}" x2="{at:.1f}" y1="56" y2="{y + 4}"/>')
        grid.append(f'<text class="quiet" x="{at:.1f}" y="50" text-anchor="middle">{ratio:g}</text>')
    width, height = LABELS + PLOT + VALUES, y + 14
    title = "Time of native CUDA / time of Mulciber"
    detail = f'{header["device"]}, {header["date"]}; right of 1 Mulciber is faster'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>", f'<text class="title" x="12" y="20">{escape(title)}</text>',
        f'<text class="quiet" x="12" y="36">{escape(detail)}</text>', *grid, *parts, "</svg>", ""])
