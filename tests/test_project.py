"""Laws of the repository itself."""

import ast
import importlib
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ENCODINGS = ROOT / "posembed_core" / "encodings"
DISPLAY = ("streamlit", "plotly", "pages")
MAX_MODULE_LINES = 400  # the stop; at 300 ask whether it is two ideas
MAX_ENCODING_LINES = 90  # below the imports
TEXT = {".css", ".html", ".js", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml"}
FOLDERS = {
    ".streamlit", "app.py", "benchmarks", "deploy", "docs", "lessons", "pages", "posembed_core",
    "tests",
}  # fmt: skip
TEXT_NAMES = {"Dockerfile", "LICENSE", "Makefile", "run", ".dockerignore", ".gitignore"}


def tracked_files() -> list[Path]:
    """Files that git tracks or would track: neither caches nor environments."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def modules(*folders: str) -> list[Path]:
    """Python files under these folders of the repository, or everywhere."""
    roots = [ROOT / folder for folder in folders] or [ROOT]
    return [
        path
        for path in tracked_files()
        if path.suffix == ".py" and any(path.is_relative_to(root) for root in roots)
    ]


def loaded_display(module: str, folder: Path = ROOT) -> set[str]:
    """Which display packages a fresh interpreter has loaded after importing a module."""
    code = f"import sys, {module}; print(*sorted(sys.modules), sep='\\n')"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True)
    return {name.split(".")[0] for name in run.stdout.split()} & set(DISPLAY)


def imported_names(path: Path) -> set[str]:
    """Every module that a file imports, `from package import name` as package.name too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def lines_below_the_imports(path: Path) -> int:
    """How many lines a module has from its first statement after the imports to its end."""
    text = path.read_text(encoding="utf-8")
    imports = [
        node.end_lineno or node.lineno
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return len("\n".join(text.splitlines()[max(imports) :]).strip().splitlines())


def requirements(file: str) -> list[str]:
    """A requirements file's lines without comments, options and environment markers."""
    text = (ROOT / file).read_text().replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#.*|\s--hash=\S+", "", line) for line in text.splitlines())
    return [line.split(";")[0].strip() for line in lines if line and not line.startswith("-")]


REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-model.txt")


def test_core_loads_no_display_library() -> None:
    assert loaded_display("posembed_core") == set()


@pytest.mark.parametrize("package", DISPLAY)
def test_the_check_itself_notices_a_display_library(tmp_path: Path, package: str) -> None:
    (tmp_path / "careless.py").write_text(f"import {package}\n")
    (tmp_path / "pages").mkdir()
    assert package in loaded_display("careless", tmp_path)


def test_modules_are_one_idea_long() -> None:
    paths = [*modules("posembed_core", "pages", "benchmarks"), ROOT / "app.py"]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert lengths
    assert {path: n for path, n in lengths.items() if n >= MAX_MODULE_LINES} == {}


def test_a_folders_face_lists_a_dozen_names_at_most() -> None:
    faces = {path.parent.name: path for path in (ROOT / "pages" / "_ui").glob("*/__init__.py")}
    counts = {
        name: len(importlib.import_module(f"pages._ui.{name}").__dict__.get("__all__", ()))
        for name in faces
    }
    assert {"controls", "live", "takeaway"} <= counts.keys()
    assert {name: count for name, count in counts.items() if count > 12} == {}


def test_encodings_fit_on_a_page() -> None:
    encodings = [path for path in modules("posembed_core/encodings") if path.name != "__init__.py"]
    lengths = {path.name: lines_below_the_imports(path) for path in encodings}
    assert lengths
    assert {name: n for name, n in lengths.items() if n > MAX_ENCODING_LINES} == {}


def test_every_module_says_what_it_is() -> None:
    silent = [
        path
        for path in modules()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_encodings_do_not_import_each_other() -> None:
    encodings = {f"posembed_core.encodings.{path.stem}" for path in ENCODINGS.glob("*.py")}
    for path in ENCODINGS.glob("*.py"):
        if path.name != "__init__.py":
            assert imported_names(path) & encodings == set(), path.name


def test_only_tests_and_texts_name_an_encodings_module() -> None:
    private = {f"posembed_core.encodings.{path.stem}" for path in ENCODINGS.glob("[!_]*.py")}
    for path in modules("posembed_core", "pages"):
        if path.parent != ENCODINGS:
            assert imported_names(path) & private == set(), path


@pytest.mark.parametrize("file", REQUIREMENTS)
def test_every_requirement_is_an_exact_pin(file: str) -> None:
    pins = requirements(file)
    assert pins
    assert [
        pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", pin)
    ] == []


def test_the_models_files_are_checked_against_a_hash() -> None:
    text = (ROOT / "requirements-model.txt").read_text().replace("\\\n", " ")
    pins = [line for line in text.splitlines() if not line.startswith("#")]
    assert pins
    assert all(re.search(r" --hash=sha256:[0-9a-f]{64}$", pin) for pin in pins)


@pytest.mark.parametrize(
    ("system", "answers", "options", "asked", "status"),
    [
        ("Linux", True, [], ["index", "plain", "model"], 0),
        ("Linux", False, [], ["index", "plain", "model"], 0),
        ("Linux", True, ["TORCH_INDEX="], ["plain", "model"], 0),
        ("Linux", True, ["TORCH_INDEX=other"], ["other", "plain", "model"], 0),
        ("Linux", False, ["TORCH_INDEX=other"], ["other"], 2),
        ("Darwin", True, [], ["plain", "model"], 0),
    ],
)
def test_make_takes_torchs_cpu_build_by_itself(
    tmp_path: Path, system: str, answers: bool, options: list[str], asked: list[str], status: int
) -> None:
    index = re.search(r"^ARG TORCH_INDEX=(.*)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[1]
    folder = tmp_path / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    end = str(answers).lower()
    pip = f'echo "$@" >> {tmp_path}/asked; case "$*" in *--index-url*) {end};; esac'
    for name, code in {"uname": f"echo {system}", "pip": pip}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{code}\n")
        (tmp_path / name).chmod(0o755)
    run = subprocess.run(
        ["make", f"VENV={folder}", f"PIP={tmp_path}/pip", *options, f"{folder}/.run"],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode == status, run.stderr
    kinds = {
        f"--index-url {index} torch==": "index",
        "--index-url other torch==": "other",
        "-r requirements.txt": "plain",
        "-r requirements-model.txt": "model",
    }
    lines = (tmp_path / "asked").read_text().splitlines()
    assert [kind for line in lines for part, kind in kinds.items() if part in line] == asked
    assert ("does not answer" in run.stdout) == (system == "Linux" and not answers and not options)


def test_every_package_is_pinned_once() -> None:
    pins = [pin for file in REQUIREMENTS for pin in requirements(file)]
    names = [pin.split("==")[0].lower().replace("_", "-") for pin in pins]
    assert sorted(names) == sorted(set(names))


def test_constraints_agree_with_the_requirements() -> None:
    constraints = {pin.lower().replace("_", "-") for pin in requirements("constraints.txt")}
    pins = requirements("requirements.txt") + requirements("requirements-dev.txt")
    wanted = {pin.lower().replace("_", "-") for pin in pins if not pin.startswith("torch==")}
    assert wanted - constraints == set()


def test_runtime_requirements_are_what_the_app_imports() -> None:
    paths = [*modules("posembed_core", "pages"), ROOT / "app.py"]
    imported = {name.split(".")[0] for path in paths for name in imported_names(path)}
    foreign = imported - sys.stdlib_module_names - {"posembed_core", "pages"}
    assert foreign == {pin.split("==")[0] for pin in requirements("requirements.txt")}


def test_nothing_names_the_machine_it_was_written_on() -> None:
    # Assembled here, so that this file doesn't name them either.
    homes = [f"/{home}/" for home in ("home", "root", "Users", "work", "opt/pypi", "opt/wheels")]
    hosts = [f"{host}.org" for host in ("pypi", "files.pythonhosted", "registry.npmjs")]
    naming = [
        (path.relative_to(ROOT).as_posix(), word)
        for path in tracked_files()
        if path.suffix in TEXT or path.name in TEXT_NAMES
        for word in (*homes, *hosts)
        if word in path.read_text(encoding="utf-8")
    ]
    assert naming == []


def test_only_the_dockerfile_names_a_package_index() -> None:
    index = "download.pytorch" + ".org"
    naming = [
        path.relative_to(ROOT).as_posix()
        for path in tracked_files()
        if (path.suffix in TEXT or path.name in TEXT_NAMES)
        and index in path.read_text(encoding="utf-8")
    ]
    assert naming == ["Dockerfile"]


@pytest.mark.parametrize("text", ["README.md", "CONTRIBUTING.md", "docs/how-it-works.md"])
def test_every_path_that_a_text_names_is_there(text: str) -> None:
    written = (ROOT / text).read_text(encoding="utf-8")
    in_code = {name for name in re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", written) if is_path(name)}
    links = {link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", written)}
    linked = {link for link in links if link and "://" not in link}
    assert in_code
    missing = {name for name in in_code if not (ROOT / name).exists()}
    missing |= {link for link in linked if not (ROOT / text).parent.joinpath(link).exists()}
    assert missing == set()


def is_path(name: str) -> bool:
    """Whether a word in backticks is a path: it starts with a folder of ours, or names a text."""
    return name.split("/", maxsplit=1)[0] in FOLDERS or Path(name).suffix in {
        ".md",
        ".toml",
        ".txt",
    }


def test_python_files_are_plain_utf8() -> None:
    for path in modules():
        with path.open("rb") as stream:
            assert tokenize.detect_encoding(stream.readline)[0] == "utf-8", path


def test_streamlit_knows_every_option_in_our_config() -> None:
    from streamlit import config

    def keys(table: dict[str, object], prefix: str = "") -> set[str]:
        names: set[str] = set()
        for name, value in table.items():
            key = f"{prefix}{name}"
            names |= keys(value, f"{key}.") if isinstance(value, dict) else {key}
        return names

    ours = keys(tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")))
    assert ours - set(config.get_config_options()) == set()


ESCAPING = {"in_markdown", "in_code", "in_lesson", "in_html", "in_plotly", "sentence"}
# What visitors, their files, configs and links, and the authors of lessons may have written.
STRANGE = {
    "error", "file.name", "finding.key", "finding.message", "finding.reason", "lesson.about",
    "lesson.title", "note", "notice", "option.text", "parts.hostname", "question.question",
    "question.unit", "settings.base_from", "settings.head_dim_from", "step.say",
    "table.about", "table.name", "table.notes", "table.source", "text.about", "tokens", "typed",
    "word", "words",
}  # fmt: skip
# Arguments that are neither Markdown nor Plotly's: ids, alternative texts, names of files.
PLAIN_ARGUMENTS = {"alt", "args", "key", "name", "say", "title"}
# Functions whose text is plain, for a file or escaped by whoever shows it; those of our own words.
PLAIN_FUNCTIONS = {
    "equation", "model_problem", "read", "reading_of", "readme", "rows_of", "tinted",
    "archive", "_arrays", "_called", "_described", "_of_table", "_short", "_sized",
}  # fmt: skip


def strange_texts(tree: ast.AST) -> list[str]:
    """Strangers' texts that a module puts into an f-string or hands to Streamlit unescaped."""
    seen: list[str] = []

    def is_plain(node: ast.AST) -> bool:
        if isinstance(node, ast.FunctionDef):
            return node.name in PLAIN_FUNCTIONS or bool(re.search("(^|_)(alt|shown)$", node.name))
        if isinstance(node, ast.keyword):
            return node.arg in PLAIN_ARGUMENTS
        if isinstance(node, ast.FormattedValue):  # with a format it is a number
            return node.format_spec is not None
        return isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) in ESCAPING
        )

    def visit(node: ast.AST, shown: bool) -> None:
        if is_plain(node):
            return
        shown = shown or isinstance(node, ast.JoinedStr)
        if isinstance(node, ast.Call):
            # What another function of ours does with a text is seen in that function.
            is_ours = isinstance(node.func, ast.Name) and node.func.id not in {"str", "repr"}
            shown = ast.unparse(node.func).startswith("st.") or (shown and not is_ours)
        if shown and isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in STRANGE:
            seen.append(f"{node.lineno}: {ast.unparse(node)}")
            return
        for child in ast.iter_child_nodes(node):
            visit(child, shown)

    visit(tree, shown=False)
    return seen


def test_no_page_shows_a_strangers_text_as_it_is() -> None:
    texts = {path: strange_texts(ast.parse(path.read_text("utf-8"))) for path in modules("pages")}
    assert {path: seen for path, seen in texts.items() if seen} == {}


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('st.error(f"{error}.")', 1),
        ("st.markdown(step.say)", 1),
        ('heading = f"{str(error)[0].upper()}{table.source}"', 2),
        ('st.markdown(" ".join(words))', 1),
        ("st.error(sentence(error))", 0),
        ('heading = f"{in_plotly(table.source)}: {len(words)}"', 0),
        ('raise ValueError(f"{error}")', 0),
    ],
)
def test_the_check_itself_notices_a_strangers_text(code: str, count: int) -> None:
    assert len(strange_texts(ast.parse(code))) == count
