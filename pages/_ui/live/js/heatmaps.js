// The heatmaps of one chart: where their cells lie, what they hold, and their painting.
import { axisName } from "./axes.js"
import { Picture, blend, edges, lookup, sum } from "./canvas.js"

export class Heatmaps {
  constructor(layer) {
    this.layer = layer
    this.pictures = new Map()
  }

  // A new figure, or arrays of new shapes. Canvases serve a chart all of whose heatmaps are evenly
  // spaced on linear axes; any other is left to Plotly.
  prepare(names, traces, layout, frame) {
    Object.assign(this, { names, traces, layout, frame })
    const straight = (id) => [undefined, "-", "linear"].includes(layout[axisName(id)]?.type)
    this.onCanvas = true
    this.extents = new Map()
    for (const [name, terms] of Object.entries(frame.mixes)) {
      const trace = this.traceOf(name)
      const { rows, cols } = frame.arrays.get(terms.find(([array]) => array)[0])
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

  traceOf(name) {
    return this.traces[this.names.indexOf(name)]
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

  // A trace's values for Plotly.
  cells(name, snapshot) {
    const mixed = blend(this.frame.mixes[name], this.frame.arrays, snapshot)
    const { rows, cols } = mixed
    const z = sum(mixed)
    return { z: Array.from({ length: rows }, (_, row) => z.subarray(row * cols, (row + 1) * cols)) }
  }

  // Four cells of the same extent, which cost Plotly nothing.
  standIn(name) {
    const { across, up } = this.extents.get(name)
    const half = ([from, to]) => (to - from) / 2
    return {
      z: [[0, 0], [0, 0]], x: null, y: null,
      x0: across[0] + half(across) / 2, dx: half(across), y0: up[0] + half(up) / 2, dy: half(up),
    }
  }

  // Whether stand-ins are invisible: on canvases, and with a given range of colours.
  canStandIn() {
    const given = (name) => {
      const trace = this.traceOf(name)
      const { cmin, cmax } = this.layout[trace.coloraxis] ?? { cmin: trace.zmin, cmax: trace.zmax }
      return cmin != null && cmax != null
    }
    return this.onCanvas && [...this.extents.keys()].every(given)
  }

  // Paint what differs from the frame before.
  paint(graph, frame, snapshot) {
    this.frame = frame
    if (!this.onCanvas) return
    for (const [name, terms] of Object.entries(frame.mixes)) {
      const content = JSON.stringify([terms, terms.map(([array]) => frame.needs[array]), snapshot])
      if (this.drawn.get(name) === content) continue
      this.drawn.set(name, content)
      if (!this.pictures.has(name)) this.pictures.set(name, new Picture(this.layer))
      const picture = this.pictures.get(name)
      picture.paint(blend(terms, frame.arrays, snapshot), this.colours(graph, name))
    }
  }

  // The colours of a trace as Plotly has worked them out.
  colours({ _fullLayout, _fullData }, name) {
    const trace = _fullData[this.names.indexOf(name)]
    const scale = trace.coloraxis ? _fullLayout[trace.coloraxis] : trace
    const id = trace.coloraxis ?? name
    if (!this.tables.has(id)) this.tables.set(id, lookup(scale.colorscale, scale.reversescale))
    const [low, high] = trace.coloraxis ? [scale.cmin, scale.cmax] : [scale.zmin, scale.zmax]
    return { table: this.tables.get(id), low, high }
  }

  // Put the canvases where Plotly's axes are now.
  place({ _fullLayout, _fullData }) {
    for (const [name, picture] of this.pictures) {
      const { xaxis, yaxis } = _fullData[this.names.indexOf(name)]
      const { across, up } = this.extents.get(name)
      picture.place(_fullLayout[axisName(xaxis)], _fullLayout[axisName(yaxis)], across, up)
    }
  }
}
