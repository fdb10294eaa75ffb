"""Scripts in plain PyTorch, assembled from small files that are programs themselves.

A recipe file is a module that nobody imports: what stands above its first ``# ---`` line (imports,
and stand-ins for the names that other recipes or the setting give) is there for linters and type
checkers; what follows is copied into the script. A line ``# --- name`` begins a section that goes
only into scripts which ask for it by name. An ``if`` whose answer the setting determines is decided
when the script is written, and only the chosen branch stays, so that a script says what is on the
screen and no more.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

Constant = bool | int | float | str | tuple[float, ...] | list[int] | range | None

# An encoding's recipe and its family's block have these only where the encoding needs them.
_WHERE_NEEDED = frozenset({"attention", "combine", "rotation", "scores", "values", "width"})
_FOLDER = files(__package__)
_WIDTH = 88


@dataclass(frozen=True)
class Given:
    """A value that the setting gives, and what it is, in a few words."""

    value: Constant
    label: str = ""


@dataclass(frozen=True)
class Part:
    """Some sections of a recipe file, under a heading."""

    file: str  # "recipes/sinusoidal"
    sections: tuple[str, ...] = ("",)
    heading: str = ""


@dataclass(frozen=True)
class Function:
    """Parts that become a function, and what it returns."""

    signature: str  # "def f(x: torch.Tensor) -> torch.Tensor:"
    parts: tuple[Part, ...]
    returns: str


def has_recipe(file: str) -> bool:
    """Whether there is a recipe file of this name.

    >>> has_recipe("recipes/rope"), has_recipe("recipes/rpe")
    (True, False)
    """
    return _FOLDER.joinpath(f"{file}.py").is_file()


def has_section(file: str, name: str) -> bool:
    """Whether a recipe file has an optional section.

    Raises `LookupError` for a name that no encoding's recipe may have.

    >>> has_section("recipes/xpos", "scores")
    True
    """
    if name not in _WHERE_NEEDED:
        raise LookupError(f"no recipe may have a section {name!r}: {_listed(_WHERE_NEEDED)}")
    return name in _sections(file)


def write(
    title: str,
    parts: Sequence[Part | Function],
    given: Mapping[str, Given],
    *,
    double: bool = False,
) -> str:
    """The script: a docstring, the imports and values that it needs, then the parts in order.

    ``double`` computes in float64 throughout, as the core does where it measures rounding.
    Raises `LookupError` for a section that its file doesn't have and an encoding can't leave out.

    >>> tokens = {"seq_len": Given(3), "embed_dim": Given(2), "token_seed": Given(1)}
    >>> "seq_len = 3" in write("Three tokens.", [Part("blocks/random_tokens")], tokens)
    True
    """
    known = {name: value.value for name, value in given.items()}
    flat = [inner for part in parts for inner in _flat(part)]
    imports = [node for part in flat for node in _imports(_sections(part.file)[_ABOVE])]
    bodies: list[str] = []
    for part in parts:
        if isinstance(part, Function):
            inside = [body for inner in part.parts for body in _bodies(inner, known)]
            bodies.append(_inside(part.signature, [*inside, part.returns]))
        else:
            bodies += _bodies(part, known)
    if double:
        bodies = [body.replace(".float()", ".double()") for body in bodies]
        bodies.insert(0, "torch.set_default_dtype(torch.float64)")
    used = _names(bodies)
    values = [_assignment(name, value) for name, value in given.items() if name in used]
    blocks = [_docstring(title), _sorted_imports(imports, used), "\n".join(values), *bodies]
    return _joined([block for block in blocks if block])


def _inside(signature: str, bodies: Sequence[str]) -> str:
    """A function; one empty line around functions inside it, none between other parts."""
    lines = bodies[0]
    for before, body in itertools.pairwise(bodies):
        function = isinstance(ast.parse(before).body[-1], ast.FunctionDef)
        lines += ("\n\n" if function else "\n") + body
    close = re.sub(r"\n{3,}", "\n\n", lines)
    return f"{signature}\n{textwrap.indent(close, '    ')}"


def _flat(part: Part | Function) -> Sequence[Part]:
    return part.parts if isinstance(part, Function) else [part]


def _bodies(part: Part, known: Mapping[str, Constant]) -> list[str]:
    sections = _sections(part.file)
    bodies = []
    for name in part.sections:
        if name not in sections and name not in _WHERE_NEEDED:
            raise LookupError(f"{part.file} has no section {name!r}: it has {_listed(sections)}")
        body = decide(sections.get(name, ""), known).strip("\n")
        if body:
            bodies.append(_comment(part.heading if name == "" else "") + body)
    return bodies


def decide(body: str, known: Mapping[str, Constant]) -> str:
    """The code without the ``if`` statements whose tests use nothing but ``known`` names.

    >>> decide("if scaled: x = 1", {"scaled": False})
    ''
    """
    while True:
        lines = body.split("\n")
        node = _first_decidable(body, lines, known)
        if node is None:
            return body
        test = compile(ast.Expression(node.test), "<recipe>", "eval")
        # The test is our own code, and the values come from the setting.
        holds = eval(test, {"__builtins__": {}}, dict(known))  # noqa: S307
        lines[node.lineno - 1 : node.end_lineno] = _branch(node, lines, bool(holds))
        body = "\n".join(lines)


_ABOVE = "above"


def _read(file: str) -> str:
    return _FOLDER.joinpath(f"{file}.py").read_text(encoding="utf-8")


def _sections(file: str) -> dict[str, str]:
    """``{name: code}`` in order; a file without ``# ---`` has only the part above.

    Raises `LookupError` for a section of an encoding's recipe that no script would ask for.
    """
    sections = {_ABOVE: ""}
    name = _ABOVE
    for line in _read(file).split("\n"):
        if line.startswith("# ---"):
            name = line.removeprefix("# ---").strip()
            if file.startswith("recipes/") and name not in {"", *_WHERE_NEEDED}:
                raise LookupError(
                    f"{file} has a section {name!r} that no script asks for; a recipe may have "
                    f"{_listed(_WHERE_NEEDED)}"
                )
            sections.setdefault(name, "")
        else:
            sections[name] += line + "\n"
    return sections


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))


def _first_decidable(
    body: str, lines: Sequence[str], known: Mapping[str, Constant]
) -> ast.If | None:
    nodes = [node for node in ast.walk(ast.parse(body)) if isinstance(node, ast.If)]
    for node in sorted(nodes, key=lambda node: node.lineno):
        asked = {name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)}
        if asked <= known.keys() and lines[node.lineno - 1].lstrip().startswith("if "):
            return node
    return None


def _branch(node: ast.If, lines: Sequence[str], holds: bool) -> list[str]:
    first, last = node.body[0], node.body[-1]
    if holds:
        start, stop = (node.test.end_lineno or first.lineno), (last.end_lineno or last.lineno)
    elif not node.orelse:
        return []
    else:
        start, stop = node.orelse[0].lineno - 1, node.end_lineno or node.lineno
        if lines[start].lstrip().startswith("elif "):
            return [lines[start].replace("elif", "if", 1), *lines[start + 1 : stop]]
        start = next(
            at for at in range(last.end_lineno or 0, stop) if lines[at].strip() == "else:"
        ) + 1  # fmt: skip
    code = textwrap.dedent("\n".join(lines[start:stop]))
    return textwrap.indent(code, " " * node.col_offset).split("\n")


def _joined(blocks: Sequence[str]) -> str:
    """The blocks with an empty line between, two around functions, and a final newline."""
    script = blocks[0]
    for before, block in itertools.pairwise(blocks):
        function = block.startswith("def ") or isinstance(
            ast.parse(before).body[-1], ast.FunctionDef
        )
        script += ("\n\n\n" if function else "\n\n") + block
    return script + "\n"


def _imports(above: str) -> list[ast.stmt]:
    body = ast.parse(above).body
    return [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


def _names(bodies: Iterable[str]) -> set[str]:
    trees = [ast.parse(body) for body in bodies]
    return {
        node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)
    }  # fmt: skip


def _sorted_imports(nodes: Iterable[ast.stmt], used: set[str]) -> str:
    ours: dict[str, bool] = {}
    for node in nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            if (alias.asname or alias.name.split(".")[0]) not in used:
                continue
            module = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
            line = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
            line = f"from {module} {line}" if isinstance(node, ast.ImportFrom) else line
            ours[line] = module.split(".")[0] in sys.stdlib_module_names
    groups = (sorted(line for line in ours if ours[line] is std) for std in (True, False))
    return "\n\n".join("\n".join(group) for group in groups if group)


def _assignment(name: str, given: Given) -> str:
    line = f"{name} = {given.value!r}"
    if len(line) > _WIDTH and isinstance(given.value, tuple):
        inside = textwrap.fill(
            repr(given.value)[1:-1], _WIDTH, initial_indent="    ", subsequent_indent="    "
        )
        return f"{name} = (\n{inside}\n)"
    label = given.label
    return f"{line}  # {label}" if label and label.lower() != name.replace("_", " ") else line


def _comment(text: str) -> str:
    lines = [
        line
        for paragraph in text.split("\n")
        for line in textwrap.wrap(paragraph, _WIDTH, break_on_hyphens=False)
    ]
    return "".join(f"# {line}\n" for line in lines)


def _docstring(title: str) -> str:
    return '"""' + "\n".join(textwrap.wrap(title, _WIDTH, break_on_hyphens=False)) + '"""'
