// The heatmaps of one chart: where their cells lie, what they hold, and their painting.
import { lookup, Picture } from "./canvas.js"
import { blend, edges, shapeOf, sum } from "./mixing.js"
import { axisName } from "./plotly.js"

/** A heatmap's cells on its two axes; null where they aren't evenly spaced numbers.
 * @typedef {{ across: Ends | null, up: Ends | null }} Extent */

export class Heatmaps {
  /** @type {Map<string, Picture>} */
  pictures = new Map()
  /** @type {Map<string, Extent>} */
  extents = new Map()
  /** Colour axis, or a heatmap with colours of its own → its colours.
   * @type {Map<string, Uint32Array>} */
  tables = new Map()
  /** Heatmap → what it shows.
   * @type {Map<string, string>} */
  drawn = new Map()
  /** @type {string[]} */
  names = []
  /** What cells show → that for each cell; pictures share it.
   * @type {Map<string, number[][][]>} */
  indices = new Map()
  /** @type {Trace[]} */
  traces = []
  /** @type {Layout} */
  layout = {}
  /** Whether canvases serve this chart. */
  onCanvas = false

  /** @param {Element} layer */
  constructor(layer) {
    this.layer = layer
  }

  /** A new figure, or arrays of new shapes. Canvases serve a chart all of whose heatmaps are evenly
   * spaced on linear axes; any other is left to Plotly.
   * @param {string[]} names
   * @param {Trace[]} traces
   * @param {Layout} layout
   * @param {Frame} frame */
  prepare(names, traces, layout, frame) {
    Object.assign(this, { names, traces, layout })
    const straight = (/** @type {string} */ id) =>
      [undefined, "-", "linear"].includes(layout[axisName(id)]?.type)
    this.onCanvas = true
    this.indices = new Map()
    this.extents = new Map()
    for (const [name, terms] of Object.entries(frame.mixes)) {
      const trace = this.traceOf(name)
      const { rows, cols } = shapeOf(terms, frame.arrays)
      const extent = { across: edges(trace, "x", cols), up: edges(trace, "y", rows) }
      this.extents.set(name, extent)
      this.onCanvas &&= straight(trace.xaxis ?? "x") && straight(trace.yaxis ?? "y")
      this.onCanvas &&= Boolean(extent.across && extent.up)
    }
    for (const [name, picture] of this.pictures) {
      if (this.onCanvas && this.extents.has(name)) continue
      picture.remove()
      this.pictures.delete(name)
    }
    this.forget()
  }

  /** @param {string} name */
  traceOf(name) {
    return this.traces[this.names.indexOf(name)]
  }

  /** A heatmap's extent in a chart on canvases.
   * @param {string} name */
  extentOf(name) {
    return /** @type {{ across: Ends, up: Ends }} */ (this.extents.get(name))
  }

  // The colours may have changed: paint everything anew.
  forget() {
    this.repaint()
    this.tables = new Map()
  }

  // Only their range has changed.
  repaint() {
    this.drawn = new Map()
  }

  /** A trace's values for Plotly.
   * @param {string} name
   * @param {Frame} frame
   * @param {number} snapshot */
  cells(name, { mixes, arrays }, snapshot) {
    const mixed = blend(mixes[name], arrays, snapshot)
    const { rows, cols } = mixed
    const z = sum(mixed)
    const lines = Array.from({ length: rows }, (_, row) => z.subarray(row * cols, (row + 1) * cols))
    return { z: lines, ...this.naming(this.traceOf(name)) }
  }

  /** What has a hover name the indices that cells show, where those aren't the ones they lie at.
   * @param {Trace} trace
   * @returns {{ customdata: number[][][], hovertemplate: string } | {}} */
  naming({ meta, hovertemplate }) {
    if (!meta?.across) return {}
    const key = JSON.stringify(meta)
    const pairs = (/** @type {number} */ up) =>
      meta.across.map((/** @type {number} */ across) => [across, up])
    const customdata = this.indices.get(key) ?? meta.up.map(pairs)
    this.indices.set(key, customdata)
    const named = hovertemplate.replace("%{x}", "%{customdata[0]}")
    return { customdata, hovertemplate: named.replace("%{y}", "%{customdata[1]}") }
  }

  /** Four cells of the same extent, which cost Plotly nothing.
   * @param {string} name */
  standIn(name) {
    const { across, up } = this.extentOf(name)
    const [dx, dy] = [across, up].map(([start, end]) => (end - start) / 2)
    const [x0, y0] = [across[0] + dx / 2, up[0] + dy / 2]
    const z = [0, 1].map(() => [0, 0])
    return { z, x: null, y: null, x0, dx, y0, dy }
  }

  // Whether stand-ins are invisible: on canvases, and with a given range of colours.
  canStandIn() {
    const given = (/** @type {string} */ name) => {
      const trace = this.traceOf(name)
      const { cmin, cmax } = this.layout[trace.coloraxis] ?? { cmin: trace.zmin, cmax: trace.zmax }
      return cmin != null && cmax != null
    }
    return this.onCanvas && [...this.extents.keys()].every(given)
  }

  /** Paint what differs from the frame before.
   * @param {Drawn} chart
   * @param {Frame} frame
   * @param {number} snapshot */
  paint(chart, frame, snapshot) {
    if (!this.onCanvas) return
    for (const [name, terms] of Object.entries(frame.mixes)) {
      const content = JSON.stringify([terms, terms.map(([array]) => frame.needs[array]), snapshot])
      if (this.drawn.get(name) === content) continue
      this.drawn.set(name, content)
      const picture = this.pictures.get(name) ?? new Picture(this.layer)
      this.pictures.set(name, picture)
      picture.paint(blend(terms, frame.arrays, snapshot), this.colours(chart, name))
    }
  }

  /** The colours of a heatmap.
   * @param {Drawn} chart
   * @param {string} name
   * @returns {Colours} */
  colours({ layout, traces }, name) {
    const trace = traces[this.names.indexOf(name)]
    const scale = trace.coloraxis ? layout[trace.coloraxis] : trace
    const id = trace.coloraxis ?? name
    const table = this.tables.get(id) ?? lookup(scale.colorscale, scale.reversescale)
    this.tables.set(id, table)
    const [low, high] = trace.coloraxis ? [scale.cmin, scale.cmax] : [scale.zmin, scale.zmax]
    return { table, low, high }
  }

  /** Put the canvases where the chart's axes are now.
   * @param {Drawn} chart */
  place({ traces, axis }) {
    for (const [name, picture] of this.pictures) {
      const { xaxis, yaxis } = traces[this.names.indexOf(name)]
      const { across, up } = this.extentOf(name)
      picture.place(axis(xaxis), axis(yaxis), across, up)
    }
  }
}
