"""Ratios against a floor, a naive page and other libraries; nothing here is a test.

`python -m benchmarks` measures everything and rewrites the tables in `benchmarks/README.md`,
`python -m benchmarks core drag` only those two; `--quick` runs a little of each as a smoke test.
"""
