"""A run's pictures are those of its snapshots, whole or as means of blocks."""

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


def test_large_ones_are_means_of_blocks():
    pictures = film(SNAPSHOTS, side=6)
    assert (pictures.rows.step, pictures.columns.step) == (4, 2)
    weight = SNAPSHOTS[-1].weight
    assert torch.allclose(pictures.table[-1, 1, 2], weight[8:12, 2:4].mean())
    attention = SNAPSHOTS[-1].attention()
    assert torch.allclose(pictures.attention[-1, 5, 0], attention[20:24, 0:4].mean())
    cosines = cosine_similarity(weight, Span(0, 24), Span(0, 24)).values
    expected = cosines[4:8, 16:20].mean().to(torch.float32)
    assert torch.allclose(pictures.similarity[-1, 1, 4], expected)


def test_the_course_has_a_number_for_each_snapshot():
    numbers = course(SNAPSHOTS)
    assert numbers.steps == (0, 4, 8, 12)
    assert numbers.losses == tuple(snapshot.loss for snapshot in SNAPSHOTS)
    assert numbers.adjacent[-1] == adjacent_cosine(SNAPSHOTS[-1].weight)
