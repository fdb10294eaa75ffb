// Ranges, zoom, lines, keys, notes and layouts of a chart, without one.
import assert from "node:assert/strict"
import { mock, test } from "node:test"
import { after, extent, visible } from "../../pages/_ui/live/js/cursor.js"
import { merge, put } from "../../pages/_ui/live/js/dress.js"
import { scaled } from "../../pages/_ui/live/js/large.js"
import { move, pathOf } from "../../pages/_ui/live/js/lines.js"
import { pieces } from "../../pages/_ui/live/js/notes.js"
import { withMinusSigns } from "../../pages/_ui/live/js/numbers.js"
import { axesOf, axisName, foreseen } from "../../pages/_ui/live/js/plotly.js"
import { changedRanges, growth, tick } from "../../pages/_ui/live/js/ranges.js"
import { fillIn } from "../../pages/_ui/live/js/streamlit.js"
import { steps } from "../../pages/_ui/live/js/whole.js"
import { awayFrom, overlap, Zoom } from "../../pages/_ui/live/js/zoom.js"

test("axes are named as Plotly names them", () => {
  assert.deepEqual(["x", "y3"].map(axisName), ["xaxis", "yaxis3"])
  assert.deepEqual(axesOf({ xaxis: 1, yaxis12: 1, coloraxis: 1, xaxisx: 1 }), ["xaxis", "yaxis12"])
})

test("a range that only grows keeps its ticks, which get other numbers", () => {
  assert.equal(growth([0, 2], [0, 3]), 1.5)
  assert.equal(growth([-2, 2], [-1, 1]), 0.5)
  assert.equal(growth([-2, 2], [-1, 2]), null)
  assert.equal(growth([0, 2], [0, -2]), null)
  assert.equal(growth(undefined, [0, 1]), null)
  assert.equal(tick(-1, 1.5), "−1.5")
  assert.equal(tick(0.1, 3), "0.3")
})

test("a patch that changes more than such ranges takes Plotly", () => {
  const before = { "coloraxis.cmin": -1, "coloraxis.cmax": 1, "yaxis4.range": [0, 2], title: "e" }
  const change = (patch) => changedRanges(before, { ...before, ...patch }, before)
  assert.deepEqual(change({}), [])
  assert.deepEqual(change({ "yaxis4.range": [0, 4] }), ["yaxis4"])
  assert.deepEqual(change({ "coloraxis.cmin": -2, "coloraxis.cmax": 2 }), ["coloraxis"])
  assert.equal(change({ "coloraxis.cmin": -2 }), false)
  assert.equal(change({ title: "h" }), false)
  assert.equal(changedRanges(before, {}, before), false)
})

test("plain words at ticks and in an axis's title take the place of others", () => {
  const ticks = "coloraxis2.colorbar.ticktext"
  const before = { [ticks]: ["−1", "0", "1"], "yaxis4.title.text": "norm" }
  const change = (patch) => changedRanges(before, { ...before, ...patch }, before)
  assert.deepEqual(change({ [ticks]: ["−1", "0", "≥ 1"] }), ["coloraxis2"])
  assert.deepEqual(change({ "yaxis4.title.text": "norm (axis × 2)" }), ["yaxis4"])
  assert.equal(change({ [ticks]: ["0", "1"] }), false) // other ticks
  assert.equal(change({ "yaxis4.title.text": "<b>norm</b>" }), false) // Plotly reads this
  assert.equal(change({ "yaxis4.title.text": "" }), false) // and draws no title then
  assert.equal(changedRanges({}, before, before), false)
})

test("a bar whose numbers grow with its colours takes no drawing", () => {
  const at = (end) => ({
    "coloraxis.cmin": -end,
    "coloraxis.cmax": end,
    "coloraxis.colorbar.tickvals": [-end, 0, end],
    "coloraxis.colorbar.ticktext": [`−${end}`, "0", `${end}`],
  })
  assert.deepEqual(changedRanges(at(1), at(2), at(1)), ["coloraxis"])
  const other = { ...at(2), "coloraxis.cmin": 0 }
  assert.equal(changedRanges(at(1), other, at(1)), false)
})

test("an axis that counts has steps of 1 in a narrow window, and none of its own elsewhere", () => {
  const counted = { tickformat: "d", nticks: 6 }
  const layout = {
    xaxis: counted,
    xaxis2: { ...counted, tickvals: [0, 1] },
    xaxis3: { ...counted, dtick: 1 },
    yaxis: { nticks: 6 },
  }
  const within = (end) =>
    steps(layout, { xaxis: [0, end], xaxis2: [0, 2], xaxis3: [0, 2], yaxis: [0, 2] })
  assert.deepEqual(within(5), { xaxis: 1 })
  assert.deepEqual(within(-5), { xaxis: 1 })
  assert.deepEqual(within(6), { xaxis: null })
  assert.deepEqual(steps(layout, {}), {})
})

test("a point without a value is hidden, and comes back with one", () => {
  const attributes = {}
  const point = { setAttribute: (name, value) => { attributes[name] = value } } // biome-ignore format: short
  const heights = new Map([[1, undefined], [2, 8]]) // biome-ignore format: short
  const line = { paths: [], points: [point], across: "", places: () => ["4.00"] }
  line.height = (value) => heights.get(value)
  move(line, new Float32Array([1]))
  assert.deepEqual(attributes, { display: "none" })
  move(line, new Float32Array([2]))
  assert.deepEqual(attributes, { display: "inline", transform: "translate(4.00,8.00)" })
})

test("a label's numbers have true minus signs, and its words keep their hyphens", () => {
  assert.equal(withMinusSigns("e = -1.62, gpt-2: -.5"), "e = −1.62, gpt-2: −.5")
  assert.equal(withMinusSigns("-3"), "−3")
  assert.equal(withMinusSigns("1.2e-7"), "1.2e−7")
})

test("an axis is away from home when its range is another, or no longer follows the data", () => {
  const layout = {
    xaxis: { range: [0, 9] },
    yaxis: { range: [0, 5], autorange: true },
    yaxis2: { range: [0, 5], autorange: false },
  }
  assert.deepEqual(awayFrom({ xaxis: [0, 9] }, layout), { yaxis2: [0, 5] })
  assert.deepEqual(awayFrom({ xaxis: [0, 10], yaxis2: [0, 5] }, layout), { xaxis: [0, 9] })
  assert.ok(overlap([0, 2], [3, 1]))
  assert.ok(!overlap([0, 1], [1, 2]))
})

test("the server hears once of a zoom, a quarter of a second after the last change", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const tell = mock.fn()
  const relayout = mock.fn()
  const button = { hidden: true }
  const zoom = new Zoom(button, tell, relayout)
  const layout = { xaxis: { range: [0, 10] } }
  zoom.place(layout, ["xaxis"])
  for (const end of [8, 7]) zoom.moved({ xaxis: { range: [0, end] } })
  context.mock.timers.tick(249)
  assert.equal(tell.mock.callCount(), 0)
  context.mock.timers.tick(1)
  zoom.moved({ xaxis: { range: [0, 7] } })
  context.mock.timers.tick(250)
  assert.deepEqual(
    tell.mock.calls.map(({ arguments: all }) => all),
    [[{ xaxis: [0, 7] }]],
  )
  assert.equal(button.hidden, false)
  // A new frame of the same axis keeps the zoom; one elsewhere doesn't.
  const next = { xaxis: { range: [0, 10] } }
  zoom.place(next, ["xaxis"])
  assert.deepEqual(next.xaxis.range, [0, 7])
  zoom.reset()
  assert.deepEqual(relayout.mock.calls[0].arguments, [
    { "xaxis.range": [0, 10], "xaxis.dtick": null, "xaxis.tickmode": null },
  ])
  const elsewhere = { xaxis: { range: [20, 30] } }
  zoom.place(elsewhere, ["xaxis"])
  assert.deepEqual(elsewhere.xaxis.range, [20, 30])
})

test("a line's path has a gap where a value is missing", () => {
  assert.equal(pathOf(["0", "1", "2", "3"], [1, NaN, 2, 3]), "M0,1.00M2,2.00L3,3.00")
})

test("the cursor sees cells whose middle is in the axis, and counts as the screen does", () => {
  const edges = [-0.5, 0.5, 1.5, 2.5]
  assert.deepEqual(visible({ range: [-0.5, 2.5], edges }), { first: 0, last: 2, sign: 1 })
  assert.deepEqual(visible({ range: [2.5, -0.5], edges }), { first: 0, last: 2, sign: -1 })
  assert.deepEqual(visible({ range: [0.6, 2.5], edges }), { first: 1, last: 2, sign: 1 })
  const toPixel = (value) => 100 + 2 * value
  assert.deepEqual(extent({ edges, toPixel }, 1), [98, 8], "eight pixels at least")
  assert.deepEqual(extent({ edges, toPixel: (value) => 20 * value }, 1), [10, 20])
})

test("keys move the cursor by what is seen, and Space goes round the pictures", () => {
  const grid = { across: { sign: 1 }, up: { sign: -1 } }
  const place = { curve: 0, row: 5, column: 7 }
  const go = (key, shiftKey = false) => after({ key, shiftKey }, place, grid, [0, 2, 3])
  assert.deepEqual(go("ArrowUp"), { curve: 0, row: 4, column: 7 })
  assert.deepEqual(go("ArrowRight", true), { curve: 0, row: 5, column: 17 })
  assert.deepEqual(go("Home"), { curve: 0, row: 5, column: -Infinity })
  assert.deepEqual(go("End"), { curve: 0, row: 5, column: Infinity })
  assert.deepEqual(go(" "), { curve: 2, row: 5, column: 7 })
  assert.deepEqual(go(" ", true), { curve: 3, row: 5, column: 7 })
  assert.equal(go("a"), null)
})

test("notes know colours, bold and code, one in another, and nothing else", () => {
  assert.deepEqual(pieces("a :blue[b] **c** `d` <i> :x"), [
    { kind: "text", text: "a " },
    { kind: "colour", colour: "blue", inner: "b" },
    { kind: "text", text: " " },
    { kind: "bold", inner: "c" },
    { kind: "text", text: " " },
    { kind: "code", text: "d" },
    { kind: "text", text: " <i> :x" },
  ])
  const [, whole] = pieces(":green[h[1, 2]]")
  assert.deepEqual(whole, { kind: "colour", colour: "green", inner: "h[1, 2]" })
  const [, code] = pieces("`**a**`")
  assert.deepEqual(code, { kind: "code", text: "**a**" })
})

test("layouts are merged, patched, filled in and enlarged", () => {
  assert.deepEqual(merge({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: 3 }, d: [2] }), {
    a: { b: 3, c: 2 },
    d: [2],
  })
  const layout = { annotations: [{ text: "a" }] }
  put(layout, "annotations[0].text", "e")
  put(layout, "coloraxis.cmax", 2)
  assert.deepEqual(layout, { annotations: [{ text: "e" }], coloraxis: { cmax: 2 } })
  const themed = '["var(--st-red-color)", "var(--either-f7f7f7-1a2028)"]'
  const read = (name) => (name === "red-color" ? "red" : "")
  assert.equal(fillIn(themed, read, false), '["red", "#f7f7f7"]')
  assert.equal(fillIn(themed, read, true), '["red", "#1a2028"]')
  const large = scaled(
    { font: { size: 10 }, margin: { t: 10, b: 20 }, xaxis: { size: 3 } },
    1.5,
    0.9,
    [],
  )
  assert.deepEqual(large, { font: { size: 15 }, margin: { t: 39, b: 30 }, xaxis: { size: 3 } })
  const axis = { title: "x" }
  const pressed = scaled({ margin: { b: 20 }, xaxis: axis }, 1, 0.5, [axis])
  assert.deepEqual(pressed.xaxis, { title: null, showticklabels: false })
  assert.equal(pressed.margin.b, 46)
})

test("axes are foreseen where margins, ranges and colours are all given", () => {
  const layout = {
    height: 300,
    margin: { l: 50, r: 10, t: 20, b: 30 },
    xaxis: { range: [0, 1], domain: [0.5, 1] },
    yaxis: { range: [0, 1] },
    coloraxis: { colorscale: [[0, "blue"]], cmin: -1, cmax: 1 },
  }
  const traces = [{ type: "heatmap", coloraxis: "coloraxis" }]
  const chart = foreseen(layout, traces, 460)
  assert.deepEqual(chart.axis("x"), { range: [0, 1], offset: 250, length: 200 })
  assert.deepEqual(chart.axis("y"), { range: [0, 1], offset: 20, length: 250 })
  assert.equal(foreseen({ ...layout, margin: { l: 50 } }, traces, 460), null)
  assert.equal(foreseen({ ...layout, xaxis: { automargin: true } }, traces, 460), null)
  assert.equal(foreseen(layout, [{ type: "scatter" }], 460), null)
  assert.equal(foreseen({ ...layout, coloraxis: {} }, traces, 460), null)
})
