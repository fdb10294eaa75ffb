// What a chart says of the cell pointed at, and where it marks it, without a chart.
import assert from "node:assert/strict"
import { test } from "node:test"
import { digits, filled, stretch, valueAt } from "../../pages/_ui/live/js/lens.js"

test("values are written to be read at a glance, with true minus signs", () => {
  const values = [-1.6219, 0, 0.0004321, 12345.678, -2e-7, NaN]
  const texts = ["−1.622", "0", "0.0004321", "1.235e+4", "−2.000e−7", "—"]
  assert.deepEqual(values.map(digits), texts)
})

test("a template is filled, a negative term in brackets where one follows a sign", () => {
  const read = (name) => ({ e: "−1", p: "−2", h: "3" })[name]
  assert.equal(filled("{e} + s · {p!} = {h!}", read), "−1 + s · (−2) = 3")
  assert.equal(
    filled("{e}", () => "{p} $& {e}"),
    "{p} $& {e}",
  )
})

test("a value is the sum of arrays at a cell, and says whether it was rounded on its way", () => {
  const shape = { frames: 1, rows: 2, cols: 2, offset: 0, step: 1 }
  const arrays = new Map([
    ["e", { ...shape, cells: new Float32Array([0, 1, 2, 3]) }],
    ["p", { ...shape, offset: 0.5, step: 0.25, cells: new Int16Array([0, 1, -32768, 4]) }],
    ["film", { ...shape, frames: 2, cells: new Float32Array([0, 0, 0, 0, 5, 6, 7, 8]) }],
  ])
  const at = (terms, row, column, snapshot = 0) => valueAt(terms, arrays, row, column, snapshot)
  assert.deepEqual(at([["e", 2]], 1, 0), { value: 4, exact: true })
  const mixed = at([["e", 1], ["p", 2], ["", 10]], 1, 1) // biome-ignore format: a list
  assert.deepEqual(mixed, { value: 16, exact: false })
  assert.ok(Number.isNaN(at([["p", 1]], 1, 0).value))
  assert.equal(at([["film", 1]], 0, 1, 1).value, 6)
})

test("a mark lies on its cell and is never too small to be seen", () => {
  const axis = { range: [-0.5, 9.5], offset: 100, length: 200 }
  assert.deepEqual(stretch(axis, [-0.5, 9.5], 10, 3, false), [160, 20])
  const [top, height] = stretch({ ...axis, range: [9.5, -0.5] }, [-0.5, 9.5], 10, 0, true)
  assert.deepEqual([Math.round(top), Math.round(height)], [100, 20])
  assert.deepEqual(stretch(axis, [-0.5, 9.5], 100, 0, false), [98, 6])
  assert.equal(stretch({ ...axis, range: [4, 6] }, [-0.5, 9.5], 10, 0, false), null)
})
