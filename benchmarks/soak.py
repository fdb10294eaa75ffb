"""Random legal and illegal inputs through the websocket, for minutes, seeded."""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlencode

from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks import memory, servers
from benchmarks.report import Section
from benchmarks.servers import Server
from benchmarks.visitors import Visitor
from posembed_core import encodings

VISITORS = 4
STEPS = 30  # of a visitor, who then leaves
QUIET = 10.0  # seconds for the memory of those who left to be freed
CACHE_MB = "256"  # full after a minute or two, so that what grows afterwards is no cache
PAGES = ("", "table", "attention", "long-context")
NAMES = (
    "tokens", "encoding", "length", "dimension", "scale", "operation", "layer_norm", "sqrt_dim",
    "head", "at", "cell", "zoom", "token_seed", "token_std", "token_skip", "text", "base",
    "pairing", "rotary_fraction", "factor", "num_heads", "max_distance", "seed", "std", "skip",
    "view", "task", "steps", "step", "config", "measure", "mask", "embed", "colour", "__proto__",
)  # fmt: skip
WORDS = (
    "", "0", "-1", "1", "2", "3", "64", "128", "8192", "8193", "1e309", "nan", "inf", "-inf",
    "true", "false", "None", "null", "add", "concat", "multiply", "random", "sentence",
    "half", "0_1_2", "9" * 400, "x" * 5000, "\x00", "é𝕏\u202e", "<script>",
    "../../etc/passwd", "%s%n", "{}", "[]",
)  # fmt: skip
NUMBERS = (
    0, -1, 1, 2, 3, 7, 64, 4096, 8192, 2**31, 2**53, 2**63, 10**400, 0.5, -0.0, 1e-300, 1e300,
    float("nan"), float("inf"), float("-inf"), True, None, "5", "", [], {}, [1, 2], {"value": 1},
)  # fmt: skip
SLIDERS = {"length": (1, 8192), "dimension": (2, 4096), "scale": (0, 5)}
# What Streamlit's front end sends for each kind of element.
FIELDS = {
    "selectbox": "string_value", "text_input": "string_value", "text_area": "string_value",
    "number_input": "double_value", "integer_input": "double_value",
    "checkbox": "bool_value", "button": "trigger_value", "download_button": "trigger_value",
    "button_group": "string_array_value", "bidi_component": "json_value",
}  # fmt: skip


def run(quick: bool, minutes: float = 10.0, seed: int = 0) -> Section:
    """Four visitors at once, each coming back as another after 30 steps.

    Memory is read while nobody is there: large matrices at work, up to 134 MB each, come and go.
    """
    section = Section("soak")
    seconds = 15.0 if quick else minutes * 60
    counts: Counter[str] = Counter()
    seen: list[memory.Held] = []
    with servers.serving(servers.APP, POSEMBED_CACHE_MB=CACHE_MB) as server:
        asyncio.run(_soak(server, seconds, seed, counts, seen))
        complaints = server.complaints()
        section.add(
            f"random inputs in {seconds / 60:.1f} min, seed {seed}", f"{counts['steps']} steps"
        )
        when = f"after each fifth of {seconds / 60:.1f} min, nobody there"
        memory.report(section, server, seen, when)
    section.add(
        "unhandled exceptions in the log",
        f"{len(complaints)}" + "".join(f"; `{line[:300]}`" for line in complaints[:3]),
        "none",
        met=not complaints,
    )
    lost = counts["lost"]
    section.add("sessions lost or without an answer", str(lost), "none", met=lost == 0)
    return section


async def _soak(
    server: Server, seconds: float, seed: int, counts: Counter[str], seen: list[memory.Held]
) -> None:
    for part in range(memory.PARTS):
        end = time.monotonic() + seconds / memory.PARTS
        first = (seed * memory.PARTS + part) * VISITORS
        await asyncio.gather(*(_wander(server, first + i, end, counts) for i in range(VISITORS)))
        await asyncio.sleep(QUIET)
        seen.append(await asyncio.to_thread(memory.held, server))


async def _wander(server: Server, seed: int, end: float, counts: Counter[str]) -> None:
    chance = random.Random(seed)  # noqa: S311
    while time.monotonic() < end:
        visitor = Visitor(server.url, a_query(chance), chance.choice(PAGES))
        try:
            await visitor.open()
            for _ in range(STEPS):
                await a_step(chance, visitor)
                counts["steps"] += 1
                if time.monotonic() > end:
                    break
        except Exception as error:  # noqa: BLE001, counted, whatever it is
            counts["lost"] += 1
            counts[repr(error)[:200]] += 1
        finally:
            await visitor.close()


async def a_step(chance: random.Random, visitor: Visitor) -> None:
    """Some widgets moved, in the whole page or in a fragment; now and then another link."""
    if chance.random() < 0.1:
        visitor.query = a_query(chance)
    if chance.random() < 0.1:
        visitor.page = chance.choice(PAGES)
    known = sorted(name for name, kind in visitor.widgets.items() if kind in FIELDS)
    names = chance.sample(known, min(len(known), chance.randint(0, 3)))
    states = [a_state(chance, name, visitor.widgets[name]) for name in names]
    fragment = visitor.fragments[names[0]] if names and chance.random() < 0.8 else ""
    await visitor.run(states, fragment)


def a_query(chance: random.Random) -> str:
    """A link's query: some settings, right or wrong."""
    pairs = []
    for _ in range(chance.randint(0, 5)):
        pairs.append((chance.choice(NAMES), chance.choice(WORDS)))  # noqa: PERF401
    if chance.random() < 0.5:
        pairs.append(("encoding", chance.choice(sorted(encodings()))))
    for name, (low, high) in SLIDERS.items():
        if chance.random() < 0.3:
            pairs.append((name, str(int(low + (high - low) * chance.random() ** 4))))
    return urlencode(pairs)


def a_state(chance: random.Random, name: str, kind: str) -> WidgetState:
    """A widget's new state: mostly of the right kind, with any value that this kind can have."""
    key = name.rpartition(".")[2]
    makers: dict[str, Callable[[], object]] = {
        "string_value": lambda: chance.choice(
            [*WORDS, *sorted(encodings()), str(chance.randint(0, 9999))]
        ).replace("\x00", "?"),
        # Streamlit itself can't make an integer of NaN and the infinities, which no browser sends.
        "double_value": lambda: _a_double(chance, finite=kind == "integer_input"),
        "bool_value": lambda: chance.random() < 0.5,
        "trigger_value": lambda: True,
        "string_array_value": lambda: [chance.choice(WORDS)],
        "json_value": lambda: _a_component_state(chance, key),
    }
    field = FIELDS[kind]
    value = makers[field]()
    if field == "string_array_value":
        state = WidgetState(id=name)
        state.string_array_value.data.extend(str(item) for item in value)  # type: ignore[attr-defined]
        return state
    return WidgetState(id=name, **{field: value})  # type: ignore[arg-type]


def _a_double(chance: random.Random, *, finite: bool) -> float:
    if chance.random() < 0.5:
        return chance.uniform(-10, 10_000)
    numbers = [float(n) for n in NUMBERS if isinstance(n, int | float) and n != 10**400]
    return chance.choice([n for n in numbers if math.isfinite(n) or not finite])


def _a_component_state(chance: random.Random, key: str) -> str:
    if chance.random() < 0.1:
        # Always JSON: Streamlit itself fails at anything else, which no browser sends.
        return chance.choice(["null", "[]", "3", '"x"', '{"at": 3}', "{}", "NaN"])
    if key in SLIDERS and chance.random() < 0.7:
        low, high = SLIDERS[key]
        value: object = low + (high - low) * chance.random() ** 3
    else:
        value = chance.choice(NUMBERS)
    ends = [chance.choice(NUMBERS), chance.choice(NUMBERS)]
    axes = {"xaxis": ends, "yaxis": ends[::-1]}
    return json.dumps({
        "at": {"seq": chance.choice([*NUMBERS, *range(5)]), "value": value, "dragging": value},
        "zoom": chance.choice([axes, {"xaxis": value}, value, ends]),
        "missing": value,
    })  # fmt: skip
