// Packets that Python has made (see stored.py), as the browser reads them.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { afterEach, test } from "node:test"
import { blend, sum } from "../../pages/_ui/live/js/mixing.js"
import { Parts, unpack } from "../../pages/_ui/live/js/packet.js"

const read = (name) => new Uint8Array(readFileSync(new URL(`packets/${name}`, import.meta.url)))
const { fetch } = globalThis
afterEach(() => {
  globalThis.fetch = fetch
})

test("a frame's header says what Python put into it", () => {
  const { header, buffers } = unpack(read("frame.packet"))
  assert.deepEqual(header, {
    plotly: "/assets/plotly.min.js?v=1",
    parts: "/assets/live/parts/",
    figure: "f1",
    needs: { e: "a1", p: "a2" },
    mixes: {
      h: [
        ["e", 1],
        ["p", 0.7],
        ["", -2],
      ],
    },
    patch: { "annotations[0].text": "s·p", "coloraxis.cmax": 3.5 },
    height: null,
    alt: "Heatmaps, “é”",
    snapshots: ["step 0"],
    grow: ["norm"],
    notes: [
      { text: "**h** = :blue[e]", kind: "arithmetic" },
      { label: "Norms", heads: ["i"], rows: [["0"]], numbers: [0], kind: "table" },
    ],
    lens: null,
    zoom: { xaxis: [1, 2.5] },
    lines: ["norm"],
    buffers: [["f4", 3]],
  })
  assert.deepEqual(buffers, [new Float32Array([0.5, NaN, -2])])
})

test("an array's cells become values, NaN where there is none", () => {
  const { header, buffers } = unpack(read("array.packet"))
  assert.deepEqual([header.frames, header.rows, header.cols], [2, 2, 3])
  assert.ok(buffers[0] instanceof Int16Array)
  const arrays = new Map([["e", { ...header, cells: buffers[0] }]])
  const values = (frame) => sum(blend([["e", 1]], arrays, frame))
  const near = (z, expected) =>
    z.forEach((value, i) => {
      assert.ok(Object.is(value, expected[i]) || Math.abs(value - expected[i]) < 2e-5)
    })
  near(values(0), [0, 1, -1, 0.25, NaN, 0.5])
  near(values(1), [1, 1, 1, 0, 0, 0])
  near(values(7), [1, 1, 1, 0, 0, 0])
})

test("a packet may begin anywhere in its buffer", () => {
  const bytes = read("frame.packet")
  const shifted = new Uint8Array(bytes.length + 3)
  shifted.set(bytes, 3)
  assert.deepEqual(unpack(shifted.subarray(3)), unpack(bytes))
})

test("a part is fetched once, asked for again if missing, and left when unused", async () => {
  globalThis.location = { origin: "http://here" }
  const asked = []
  const told = []
  globalThis.fetch = async (url) => {
    asked.push(url)
    if (asked.length === 1) return new Response("", { status: 404 })
    return new Response(read("array.packet"))
  }
  const parts = new Parts()
  const frame = { parts: "/p/", figure: "f", needs: { e: "a" } }
  const wanted = () => true
  const { arrays } = await parts.complete(frame, wanted, (tries) => told.push(tries))
  assert.deepEqual([arrays.get("e").rows, told], [2, [5]])
  assert.deepEqual(asked, [
    "http://here/p/f",
    "http://here/p/a",
    "http://here/p/f",
    "http://here/p/a",
  ])
  await parts.complete(frame, wanted, assert.fail)
  assert.equal(asked.length, 4)
  parts.keep({ figure: "f", needs: {} })
  await parts.complete(frame, wanted, assert.fail)
  assert.equal(asked.length, 5)
  assert.equal(await parts.complete(frame, () => false, assert.fail), null)
})
