"""`python -m benchmarks [name …] [--quick] [--minutes M]`: measure, print, rewrite the tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks import report
from benchmarks.report import Section


def main() -> None:
    """Run what was asked for, in this order, everything by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="little of each, to see that it works")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long class and soak last")
    parser.add_argument("--seed", type=int, default=0, help="of the soak's inputs")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - BENCHMARKS.keys()
    if unknown:
        parser.error(
            f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}"
        )
    for name in arguments.names or BENCHMARKS:
        print(f"\n## {name}\n", flush=True)
        print(report.write(BENCHMARKS[name](arguments), arguments.quick), flush=True)


def _interaction(arguments: argparse.Namespace) -> Section:
    from benchmarks import interaction

    return interaction.run(arguments.quick)


def _drag(arguments: argparse.Namespace) -> Section:
    from benchmarks import drag

    return drag.run(arguments.quick)


def _wire(arguments: argparse.Namespace) -> Section:
    from benchmarks import wire

    return wire.run(arguments.quick)


def _core(arguments: argparse.Namespace) -> Section:
    from benchmarks import core

    return core.run(arguments.quick)


def _class(arguments: argparse.Namespace) -> Section:
    from benchmarks import classroom

    return classroom.run(arguments.quick, arguments.minutes)


def _soak(arguments: argparse.Namespace) -> Section:
    from benchmarks import soak

    return soak.run(arguments.quick, arguments.minutes, arguments.seed)


# Imported only when run: each needs other libraries, and some of them take seconds.
BENCHMARKS: dict[str, Callable[[argparse.Namespace], Section]] = {
    "interaction": _interaction,
    "drag": _drag,
    "wire": _wire,
    "core": _core,
    "class": _class,
    "soak": _soak,
}

if __name__ == "__main__":
    main()
