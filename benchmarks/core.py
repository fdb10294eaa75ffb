"""The core beside other libraries' code and the memory's speed, on one thread."""

from __future__ import annotations

from dataclasses import dataclass

import torch

import posembed_core as pc
from benchmarks import peers
from benchmarks.report import Section
from benchmarks.timing import Work, alternate
from posembed_core.pictures.preview import Preview
from posembed_core.pictures.resolution import as_tensor

SIZES = ((128, 64), (2048, 1024), (8192, 4096))
HEADS = ((8, 128, 64), (32, 2048, 128))  # heads, positions, dimensions of a head
# Why ours may take longer than the fastest of the others.
EXACT = (
    "positions are checked, and angles, sines and cosines are float64 (the others' are float32, "
    "off by 3.6e-3 rad at position 131,072); what that costs a call shows where a table is small"
)
DOUBLE = (
    "the sums are float64, so that the numbers on the screen are right to the last digit; torch's "
    "own float64 norms take {:.2f} times as long as ours"
)
SCALES = ((128, 64), (512, 256), (2048, 1024), (4096, 2048), (8192, 4096))


def run(quick: bool) -> Section:
    """Tables, rotations, sums and norms; then the scale, from 8 thousand to 34 million values."""
    torch.set_num_threads(1)
    section = Section("core")
    rounds = 3 if quick else 9
    with torch.inference_mode():
        speed = bandwidth(rounds)
        section.add(
            "memory, read and written by `torch.add(a, b, out=c)`", f"{speed / 1e9:.1f} GB/s"
        )
        for length, dim in SIZES[: 2 if quick else 3]:
            table(section, length, dim, rounds, speed)
        for heads, length, dim in HEADS:
            rotation(section, (1, heads, length, dim), rounds, speed)
        for length, dim in SIZES[: 2 if quick else 3]:
            combination(section, length, dim, rounds, speed)
        scale_curve(section, SCALES[: 3 if quick else 5], rounds)
        first_frame(section, rounds)
    return section


@dataclass(frozen=True)
class Contest:
    """A task that our code and others do; `moved`: the bytes that must pass through memory."""

    what: str
    ours: Work
    others: dict[str, Work]
    moved: int
    why: str = ""

    def enter(self, section: Section, rounds: int, speed: float) -> None:
        seconds = alternate({"ours": self.ours, **self.others}, rounds)
        mine = seconds.pop("ours")
        fastest = min(seconds, key=seconds.__getitem__)
        ratio = mine / seconds[fastest]
        share = self.moved / speed / mine
        slowest = max(seconds.values()) / mine
        section.add(
            self.what,
            f"{_ms(mine)}, {ratio:.2f} × {fastest} ({_ms(seconds[fastest])}); "
            f"{share:.0%} of the memory's speed",
            "≤ 1 × the fastest",
            met=ratio <= 1.05,  # two runs of the same code differ by as much
            why=self.why.format(slowest),
        )


def table(section: Section, length: int, dim: int, rounds: int, speed: float) -> None:
    encoding, positions = pc.create("sinusoidal", embed_dim=dim), torch.arange(length)
    ours = lambda: encoding.table(positions)  # noqa: E731
    Contest(
        f"sinusoidal table {length} × {dim}",
        ours,
        peers.tables(length, dim),
        4 * length * dim,
        EXACT,
    ).enter(section, rounds, speed)


def rotation(section: Section, shape: tuple[int, ...], rounds: int, speed: float) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(shape, generator=generator) for _ in range(2))
    _, heads, length, dim = shape
    positions = torch.arange(length)
    for pairing, others in peers.rotations(q, k).items():
        encoding = pc.create("rope", head_dim=dim, pairing=pairing)
        ours = lambda e=encoding: [e.rotate(x, positions) for x in (q, k)]  # noqa: E731
        what = f"queries and keys turned, {pairing} pairs, {heads} heads × {length} × {dim}"
        Contest(what, ours, others, 16 * q.numel(), EXACT).enter(section, rounds, speed)


def combination(section: Section, length: int, dim: int, rounds: int, speed: float) -> None:
    tokens = pc.random_tokens(length, dim)
    encoding = pc.create("sinusoidal", embed_dim=dim)
    # Table and sum together, since one call of the other libraries does both.
    Contest(
        f"h = e + s·p, table included, {length} × {dim}",
        lambda: pc.combine(tokens, encoding, scale=0.5),
        peers.sums(tokens),
        8 * tokens.numel(),
        EXACT,
    ).enter(section, rounds, speed)
    combined = pc.combine(tokens, encoding, scale=0.5)
    Contest(
        f"norms of e, s·p and h, {length} × {dim}",
        combined.norms,
        peers.norms(combined.token, combined.position, combined.combined),
        12 * tokens.numel(),
        DOUBLE,
    ).enter(section, rounds, speed)


def scale_curve(section: Section, sizes: tuple[tuple[int, int], ...], rounds: int) -> None:
    """A new scale's frame, once its cells have been chosen."""
    previews = {}
    for length, dim in sizes:
        tokens = pc.random_tokens(length, dim)
        encoding = pc.create("sinusoidal", embed_dim=dim)
        vectors = encoding.table(torch.arange(length))
        preview = Preview((length, dim), lambda t=tokens: t, encoding, lambda v=vectors: v)  # type: ignore[misc]
        preview.frame(1.0)
        previews[f"{length} × {dim}"] = preview
    works = {name: lambda p=preview: p.frame(0.5) for name, preview in previews.items()}  # type: ignore[misc]
    seconds = alternate(works, rounds)
    picture = [preview.rows.cells * preview.columns.cells for preview in previews.values()]
    full = [s for s, cells in zip(seconds.values(), picture, strict=True) if cells == max(picture)]
    section.add(
        "a new scale: " + ", ".join(seconds),
        ", ".join(map(_ms, seconds.values())),
        "independent of L × d once the picture is full (512 × 256 cells)",
        met=max(full) <= 1.5 * min(full),
        why="what grows are the norms, one number for each of the L positions",
    )


def first_frame(section: Section, rounds: int) -> None:
    """A picture's first frame with its positions computed: what isn't shown isn't computed."""
    dim = 4096
    tokens = {length: pc.random_tokens(length, dim) for length in (512, 8192)}
    encoding = pc.create("sinusoidal", embed_dim=dim)

    def draw(length: int) -> None:
        vectors = lambda shown: encoding.table(as_tensor(shown))  # noqa: E731
        Preview((length, dim), lambda: tokens[length], encoding, vectors).frame(1.0)

    works = {f"{n} × {dim}": lambda n=n: draw(n) for n in tokens}  # type: ignore[misc]
    seconds = alternate(works, rounds)
    short, long = seconds.values()
    section.add(
        "a sinusoid's first frame: " + ", ".join(seconds),
        f"{_ms(short)}, {_ms(long)}: {long / short:.2f} ×",
        "≤ 1.5 × for 16 times as many positions",
        met=long <= 1.5 * short,
        why="the rows shown lie far apart in the tokens' memory",
    )


def bandwidth(rounds: int) -> float:
    """Bytes a second through one core: two arrays read, one written, all far beyond the caches."""
    a, b = torch.ones(2**25), torch.ones(2**25)
    c = torch.empty_like(a)
    return 12 * a.numel() / alternate({"add": lambda: torch.add(a, b, out=c)}, rounds)["add"]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
