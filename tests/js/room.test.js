// Pictures as tall as the window allows.
import assert from "node:assert/strict"
import { test } from "node:test"
import { stretched } from "../../pages/_ui/live/js/room.js"

// Two rows in 400 pixels of 480: 100 of norms, 60 between, 200 of pictures, 40 above.
const LAYOUT = {
  height: 480,
  margin: { t: 40, b: 40 },
  yaxis: { domain: [0.4, 0.9], title: "dimension" },
  yaxis2: { domain: [0.4, 0.9] },
  yaxis3: { domain: [0, 0.25] },
  coloraxis: { colorbar: { y: 0.9, yanchor: "top", len: 0.5 } },
  coloraxis2: { colorbar: { y: 0.65, len: 0.5 } },
  annotations: [
    { yref: "paper", y: 0.9, text: "over the pictures" },
    { yref: "paper", y: 0.65, text: "+" },
    { yref: "y", y: 12, text: "in a picture" },
  ],
  shapes: [{ yref: "paper", y0: 0, y1: 1 }],
}

/** Pixels from the lower end. */
const pixels = (/** @type {any} */ layout, /** @type {number} */ share) =>
  Math.round(share * (layout.height - 80) * 1e6) / 1e6

for (const height of [340, 480, 900])
  test(`at ${height} px what stands between pictures is as high as before`, () => {
    const layout = stretched(LAYOUT, height)
    const at = (/** @type {number} */ share) => pixels(layout, share)
    const factor = (height - 80 - 100) / 300
    const [low, high] = layout.yaxis.domain.map(at)
    const [floor, ceiling] = layout.yaxis3.domain.map(at)
    assert.deepEqual([floor, ceiling], [0, Math.round(100 * factor * 1e6) / 1e6])
    assert.ok(Math.abs(low - ceiling - 60) < 1e-6)
    assert.ok(Math.abs(high - low - 200 * factor) < 1e-6)
    assert.ok(Math.abs(height - 80 - high - 40) < 1e-6)
    assert.deepEqual(layout.yaxis2.domain, layout.yaxis.domain)
    assert.equal(layout.yaxis.title, "dimension")
  })

test("bars, words and lines go with their pictures", () => {
  const layout = stretched(LAYOUT, 780)
  const [low, high] = layout.yaxis.domain
  for (const { colorbar } of [layout.coloraxis, layout.coloraxis2]) {
    assert.equal(colorbar.yanchor, "top")
    assert.ok(Math.abs(colorbar.y - high) < 1e-9)
    assert.ok(Math.abs(colorbar.len - (high - low)) < 1e-9)
  }
  const [over, sign, inside] = layout.annotations
  assert.ok(Math.abs(over.y - high) < 1e-9)
  assert.ok(Math.abs(sign.y - (low + high) / 2) < 1e-9)
  assert.equal(inside.y, 12)
  assert.deepEqual([layout.shapes[0].y0, layout.shapes[0].y1], [0, 1])
})

test("a bar that lies keeps its length, a layout without room only gets its height", () => {
  const lying = { orientation: "h", y: 0.25, len: 0.76 }
  const layout = stretched({ ...LAYOUT, coloraxis: { colorbar: lying } }, 780)
  assert.equal(layout.coloraxis.colorbar.len, 0.76)
  assert.ok(Math.abs(layout.coloraxis.colorbar.y - layout.yaxis3.domain[1]) < 1e-9)
  assert.deepEqual(stretched(LAYOUT, 150), { ...LAYOUT, height: 150 })
})
