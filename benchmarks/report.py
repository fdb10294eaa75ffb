"""What was measured, beside what was wanted, as tables in `benchmarks/README.md`."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

README = Path(__file__).parent / "README.md"
HEADS = ("what", "measured", "wanted", "met")


@dataclass(frozen=True)
class Row:
    """One figure. met: None where nothing was wanted; why: the reason, shown if it was not met."""

    what: str
    measured: str
    wanted: str = ""
    met: bool | None = None
    why: str = ""

    @property
    def verdict(self) -> str:
        return {None: "", True: "yes", False: "**no**"}[self.met]


@dataclass
class Section:
    """The figures of one benchmark. load: the machine's load before it began."""

    name: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    load: float = field(default_factory=lambda: os.getloadavg()[0])

    def add(self, *args: object, **more: object) -> None:
        self.rows.append(Row(*args, **more))  # type: ignore[arg-type]

    def markdown(self, quick: bool) -> str:
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        how = ", with `--quick`: only a smoke test" if quick else ""
        lines = [f"{when}, {machine()}; load average before: {self.load:.1f}{how}.", ""]
        lines += [f"| {' | '.join(HEADS)} |", "|:--|:--|:--|:--|"]
        lines += [f"| {r.what} | {r.measured} | {r.wanted} | {r.verdict} |" for r in self.rows]
        short = [row for row in self.rows if row.met is False]
        reasons = dict.fromkeys(f"- {row.what}: {row.why or 'not explained yet'}" for row in short)
        if reasons:
            lines += ["", "What falls short, and why:", "", *reasons]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)


def machine() -> str:
    """Processor, cores and versions, in a few words."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = re.findall(r"^model name\s*: (.*)$", cpuinfo.read_text(), re.MULTILINE)
        model = names[0] if names else model
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "streamlit", "plotly"))
    cores = os.cpu_count()
    return f"{model}, {cores} cores, no GPU, Python {platform.python_version()}, {packages}"


def write(section: Section, quick: bool) -> str:
    """Put the section's table into the README and return it."""
    table = section.markdown(quick)
    begin, end = f"<!-- begin {section.name} -->", f"<!-- end {section.name} -->"
    text = README.read_text(encoding="utf-8")
    before, opened, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not (opened and closed):
        raise ValueError(f"benchmarks/README.md has no place for {section.name}: {begin} … {end}")
    README.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
    return table
