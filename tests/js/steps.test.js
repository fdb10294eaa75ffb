// A slider's values: which there are, where they lie, and where keys go.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import {
  afterKey,
  fromPosition,
  LOG_POSITIONS,
  snap,
  toPosition,
} from "../../pages/_ui/live/js/steps.js"

const CASES = JSON.parse(readFileSync(new URL("snap.json", import.meta.url), "utf-8"))
const LENGTH = { low: 1, high: 8192, step: 1, log: true }

for (const { value, snapped, ...scale } of CASES)
  test(`${value} in ${JSON.stringify(scale)} is ${snapped}`, () => {
    assert.equal(snap(value, scale), snapped)
  })

test("the ends of a logarithmic slider are its range, the middle is the geometric mean", () => {
  assert.equal(fromPosition(0, LENGTH), 1)
  assert.equal(fromPosition(LOG_POSITIONS, LENGTH), 8192)
  assert.equal(fromPosition(LOG_POSITIONS / 2, LENGTH), Math.round(Math.sqrt(8192)))
})

test("a value's position leads back to it, as near as there are positions", () => {
  for (const value of [1, 2, 100, 128, 5000, 8192]) {
    const back = fromPosition(toPosition(value, LENGTH), LENGTH)
    assert.ok(Math.abs(Math.log(back / value)) < Math.log(8192) / LOG_POSITIONS)
  }
  assert.equal(toPosition(1.25, { low: 0, high: 4, step: 0.01, log: false }), 1.25)
})

test("Page keys go to the next power of two and stay in the range", () => {
  assert.equal(afterKey("PageUp", 128, LENGTH), 256)
  assert.equal(afterKey("PageUp", 100, LENGTH), 128)
  assert.equal(afterKey("PageDown", 128, LENGTH), 64)
  assert.equal(afterKey("PageDown", 1, LENGTH), 1)
  assert.equal(afterKey("PageUp", 8192, LENGTH), 8192)
})

test("arrows reach every small number and go 5 % among large ones", () => {
  assert.equal(afterKey("ArrowRight", 1, LENGTH), 2)
  assert.equal(afterKey("ArrowUp", 2, LENGTH), 3)
  assert.equal(afterKey("ArrowLeft", 1000, LENGTH), 950)
  assert.equal(afterKey("Home", 1000, LENGTH), 1)
  assert.equal(afterKey("End", 1000, LENGTH), 8192)
  assert.equal(afterKey("a", 1000, LENGTH), undefined)
  assert.equal(afterKey("toString", 1000, LENGTH), undefined)
})
