"""The report and the tables give what the functions behind them compute."""

from __future__ import annotations

import csv
import io

import pytest
import torch

import posembed_core as pc
from posembed_core.long_context.pairs import distance_edges, mean_score, pair_table
from posembed_core.long_context.precision import ARITHMETICS, max_cos_error
from posembed_core.long_context.report import (
    distance_columns,
    own_fields,
    pair_columns,
    report,
    rounding,
    stacked,
    summary,
    to_csv,
)
from posembed_core.model_config import known_configs, read_rope

LLAMA = known_configs()["Llama 3.1 8B"]


def test_tables_lose_no_digit() -> None:
    table = pair_table(pc.rotary_from_config(LLAMA), 131072)
    columns = pair_columns(table, 8192, 131072)
    rows = list(csv.DictReader(io.StringIO(to_csv(columns, {"kind": table.kind}))))
    assert len(rows) == 64
    for name, values in columns.items():
        read = torch.tensor([float(row[name]) for row in rows], dtype=torch.float64)
        assert torch.equal(read, values), name
    assert [row["kind"] for row in rows] == list(table.kind)
    assert torch.equal(stacked(columns)[:, 2], table.after)
    assert rows[0]["pair"] == "0"


def test_columns_are_turns_and_phases_at_both_lengths() -> None:
    table = pair_table(pc.create("rope-linear", head_dim=8, factor=4))
    columns = pair_columns(table, 100, 400)
    torch.testing.assert_close(columns["turns_before_at_100"], columns["turns_after_at_400"])
    torch.testing.assert_close(columns["phase_before_at_100"], columns["phase_after_at_400"])


def test_distances_say_where_a_cell_starts_and_ends() -> None:
    edges = distance_edges(1000, 20)
    score = mean_score(pc.create("rope").inv_freq(), edges)
    columns = distance_columns(edges, score, score)
    assert columns["from"][0] == columns["to"][0] == 0
    assert columns["to"][-1] == 999
    assert torch.equal(columns["from"][1:], columns["to"][:-1] + 1)


def test_the_report_has_every_number_of_the_page() -> None:
    odd = {**LLAMA, "rope_scaling": {**LLAMA["rope_scaling"], "beta_fast": 32}}
    (settings,) = read_rope(odd).settings
    table = pair_table(settings.encoding, 131072)
    text = report("My model", settings, read_rope(odd).findings, table, (8192, 131072))
    for words in (
        "RoPE of My model",
        "llama3 (RoPE, Llama 3.1)",
        "500000 (from rope_theta)",
        "128 dimensions (from hidden_size / num_attention_heads)",
        "29 untouched, 6 blended, 29 interpolated",
        "29 never complete a turn over the 8,192 positions of training, 25 over 131,072",
        "warning: rope_scaling.beta_fast = 32 is ignored by type 'llama3'",
        "original_max_position_embeddings  8192",
        f"{table.after[63].item():.9g}",
        f"{rounding(table.after, ARITHMETICS['float32'])[2]:.3g}",
    ):
        assert words in text
    assert text.count("\n") == text.strip().count("\n") + 1
    assert "Nothing odd" in report("x", settings, (), table, (8192, 131072))


def test_the_summary_counts_pairs_that_stand_still() -> None:
    table = pair_table(pc.create("rope-proportional", head_dim=64))
    assert "Of 32 pairs at 4,096 tokens: 8 untouched, 24 still." in summary(table, 2048, 4096)


def test_rounding_is_the_error_just_before_each_milestone() -> None:
    inv_freq = pc.create("rope").inv_freq()
    errors = rounding(inv_freq, ARITHMETICS["float32"])
    assert errors[0] == max_cos_error(inv_freq, 8192, ARITHMETICS["float32"], start=8192 - 1024)
    assert errors == sorted(errors)


@pytest.mark.parametrize("name", ["Phi-3 mini 128k", "Qwen2.5 7B with YaRN"])
def test_fields_that_are_not_set_are_not_named(name: str) -> None:
    fields = own_fields(pc.rotary_from_config(known_configs()[name]))
    assert "attention_factor" not in fields
    assert "head_dim" not in fields
    assert fields.get("long_factor", "48 numbers") == "48 numbers"


def test_fields_are_spelled_as_in_a_config() -> None:
    given = pc.create("rope-yarn", factor=2, attention_factor=1.5)
    assert own_fields(given)["attention_factor"] == "1.5"
    assert "fixed_attention_factor" not in own_fields(given)


def test_a_pair_that_stands_still_has_an_infinite_wavelength() -> None:
    table = pair_table(pc.create("rope-proportional", head_dim=8))
    rows = list(csv.DictReader(io.StringIO(to_csv(pair_columns(table, 100, 400)))))
    assert rows[3]["wavelength_after"] == "inf"
    assert rows[3]["inv_freq_after"] == "0"
