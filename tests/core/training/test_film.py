"""A run's pictures are those of its snapshots, whole or sampled."""

import torch

import posembed_core as pc
from posembed_core.pictures.resolution import Span
from posembed_core.tables.measures.similarity import adjacent_cosine, cosine_similarity
from posembed_core.training.film import course, film

SPEC = pc.TrainingSpec(max_seq_len=24, embed_dim=8, num_tokens=4, batch_size=2, steps=12)
SNAPSHOTS = list(pc.train_table(SPEC))


def test_frames_are_the_snapshots_themselves():
    pictures = film(SNAPSHOTS)
    assert pictures.table.shape == (4, 8, 24)
    for frame, snapshot in enumerate(SNAPSHOTS):
        assert torch.equal(pictures.table[frame], snapshot.weight.T)
        assert torch.equal(pictures.attention[frame], snapshot.attention())
        cosines = cosine_similarity(snapshot.weight, Span(0, 24), Span(0, 24)).values
        assert torch.equal(pictures.similarity[frame], cosines.to(torch.float32))


def test_large_ones_show_values_of_the_snapshots():
    pictures = film(SNAPSHOTS, side=6)
    assert (pictures.rows.step, pictures.columns.step) == (4, 2)
    rows, columns = list(pictures.rows.indices), list(pictures.columns.indices)
    weight, attention = SNAPSHOTS[-1].weight, SNAPSHOTS[-1].attention()
    assert torch.equal(pictures.table[-1], weight[rows][:, columns].T)
    assert torch.equal(pictures.attention[-1], attention[rows][:, rows])
    cosines = cosine_similarity(weight, Span(0, 24), Span(0, 24)).values[rows][:, rows]
    assert torch.allclose(pictures.similarity[-1], cosines.to(torch.float32))


def test_the_course_has_a_number_for_each_snapshot():
    numbers = course(SNAPSHOTS)
    assert numbers.steps == (0, 4, 8, 12)
    assert numbers.losses == tuple(snapshot.loss for snapshot in SNAPSHOTS)
    assert numbers.adjacent[-1] == adjacent_cosine(SNAPSHOTS[-1].weight)
