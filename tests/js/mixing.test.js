// Cells: sums of arrays, means where there are fewer pixels, and their colours.
import assert from "node:assert/strict"
import { test } from "node:test"
import { placement } from "../../pages/_ui/live/js/canvas.js"
import { blend, edges, fit, shade, sum } from "../../pages/_ui/live/js/mixing.js"

const array = (rows, cols, values) => ({
  frames: 1,
  rows,
  cols,
  offset: 0,
  step: 1,
  cells: new Float32Array(values),
})
const arrays = new Map([
  ["e", array(2, 2, [1, 2, 3, NaN])],
  ["p", array(2, 2, [10, 20, 30, 40])],
  ["q", array(2, 2, [1, 1, 1, 1])],
])
const grey = { table: Uint32Array.from({ length: 256 }, (_, i) => i), low: 0, high: 255 }

test("a sum is Σ coefficient · array + constant, without a value where an array has none", () => {
  const single = sum(blend([["p", 0.5]], arrays))
  assert.deepEqual([...single], [5, 10, 15, 20])
  const all = sum(
    blend(
      [
        ["e", 1],
        ["p", 0.5],
        ["", 3],
        ["q", -2],
      ],
      arrays,
    ),
  )
  assert.deepEqual([...all], [1 + 5 + 3 - 2, 2 + 10 + 3 - 2, 3 + 15 + 3 - 2, NaN])
})

test("fitting keeps the mean, shares out cells on a border, leaves out empty ones", () => {
  const shown = (rows, cols, values) =>
    blend([["a", 1]], new Map([["a", array(rows, cols, values)]])).layers[0].shown
  assert.deepEqual([...fit(shown(2, 4, [1, 3, 5, 7, 1, 3, 5, 7]), 1, 2).z], [2, 6])
  assert.deepEqual([...fit(shown(1, 3, [0, 3, 6]), 1, 2).z], [1, 5])
  assert.deepEqual([...fit(shown(1, 4, [NaN, 3, NaN, NaN]), 1, 2).z], [3, NaN])
  const same = shown(2, 2, [1, 2, 3, 4])
  assert.equal(fit(same, 2, 2), same)
})

test("fitting the sum is the sum of the fitted", () => {
  const random = Array.from({ length: 2 * 35 }, (_, i) => Math.sin(i * i))
  const two = new Map([
    ["a", array(5, 7, random.slice(0, 35))],
    ["b", array(5, 7, random.slice(35))],
  ])
  const fitted = (name) => fit(blend([[name, 1]], two).layers[0].shown, 2, 3).z
  const whole = sum(
    blend(
      [
        ["a", 1],
        ["b", -0.5],
      ],
      two,
    ),
  )
  const direct = fit(
    blend([["s", 1]], new Map([["s", array(5, 7, whole)]])).layers[0].shown,
    2,
    3,
  ).z
  direct.forEach((value, i) => {
    assert.ok(Math.abs(value - (fitted("a")[i] - 0.5 * fitted("b")[i])) < 1e-5)
  })
})

test("a value's shade is its share of the range; beyond it the last, without a value none", () => {
  const painted = (terms) => {
    const pixels = new Uint32Array(4)
    shade(blend(terms, arrays), grey, { width: 2, height: 2 }, pixels, new Uint8ClampedArray(4))
    return [...pixels]
  }
  assert.deepEqual(painted([["p", 1]]), [10, 20, 30, 40])
  assert.deepEqual(
    painted([
      ["p", 10],
      ["", -150],
    ]),
    [0, 50, 150, 250],
  )
  assert.deepEqual(painted([["p", 10]]), [100, 200, 255, 255])
  assert.deepEqual(painted([["e", 2]]), [2, 4, 6, 0])
  assert.deepEqual(
    painted([
      ["p", 1],
      ["q", 1],
      ["q", 2],
    ]),
    [13, 23, 33, 43],
  )
})

test("cells reach half a cell beyond their middles; null if they aren't evenly spaced", () => {
  assert.deepEqual(edges({}, "x", 4), [-0.5, 3.5])
  assert.deepEqual(edges({ x0: 10, dx: 2 }, "x", 3), [9, 15])
  assert.deepEqual(edges({ y: [1, 2, 3] }, "y", 3), [0.5, 3.5])
  assert.equal(edges({ y: [1, 2, 4] }, "y", 3), null)
  assert.equal(edges({ y: ["a", "b"] }, "y", 2), null)
  assert.equal(edges({ x: [0, 1, 2, 3] }, "x", 3), null)
})

test("row 0 is at the bottom, and on a reversed axis at the top", () => {
  const x = { range: [-0.5, 3.5], offset: 10, length: 400 }
  const y = { range: [-0.5, 1.5], offset: 20, length: 100 }
  const usual = placement(x, y, [-0.5, 3.5], [-0.5, 1.5])
  assert.equal(usual.canvas.transform, "scale(1, -1)")
  assert.deepEqual(usual.frame, { left: "10px", top: "20px", width: "400px", height: "100px" })
  assert.deepEqual(usual.size, { width: 400, height: 100 })
  const reversed = placement(x, { ...y, range: [1.5, -0.5] }, [-0.5, 3.5], [-0.5, 1.5])
  assert.equal(reversed.canvas.transform, "scale(1, 1)")
  const zoomed = placement({ ...x, range: [0.5, 2.5] }, y, [-0.5, 3.5], [-0.5, 1.5])
  assert.deepEqual([zoomed.canvas.left, zoomed.canvas.width], ["-200px", "800px"])
})
