// A Plotly chart that stays: full draws go through Plotly.react, moving values past it (plot.py).
import { put, readFigure } from "./dress.js"
import { Heatmaps } from "./heatmaps.js"
import { isLarge } from "./large.js"
import { Lens } from "./lens.js"
import { move } from "./lines.js"
import NOTES from "./notes.css"
import { Notes } from "./notes.js"
import { page } from "./pace.js"
import { Parts, unpack } from "./packet.js"
import { Player } from "./player.js"
import PLOT from "./plot.css"
import PLOTLY from "./plotly.css"
import {
  allAxes,
  axesOf,
  drawn,
  foreseen,
  isDragged,
  leaveCells,
  lineOf,
  loadPlotly,
  PAINTED,
} from "./plotly.js"
import { Ranges } from "./ranges.js"
import { heed } from "./reader.js"
import { isMounted, keepOpaque, theme } from "./streamlit.js"
import { steps } from "./whole.js"
import { Zoom } from "./zoom.js"

const REST = 200 // ms without a new frame until Plotly gets the true values
const FULL_PAUSE = 300 // ms between full draws while values move, at least,
const FULL_SHARE = 10 // and so many times as long as the last one took

/** @type {WeakMap<HTMLElement | ShadowRoot, Chart>} */
const charts = new WeakMap()

// The page's parts of a chart: cells under Plotly's graph, and the way home from a zoom.
const HTML = `<style>${PLOT}${PLOTLY}${NOTES}</style>
  <div class="live-plot-layer" role="img"></div><div></div>
  <button type="button" hidden>Reset zoom</button>`

export class Chart {
  /** The newest frame that is complete, and how its figure looks here. Undefined before the first.
   * @type {Frame} */
  frame
  /** @type {import("./dress.js").Look} */
  look
  /** Undefined until it is here.
   * @type {PlotlyLibrary} */
  plotly
  /** @type {Promise<void> | undefined} */
  library
  /** What was read of Python and Streamlit last.
   * @type {Uint8Array | undefined} */
  bytes
  /** How many frames have come, and how many were painted. */
  received = 0
  painted = 0
  /** Whether a frame is complete that was not drawn yet. */
  arrived = false
  destroyed = false
  /** A zoom that Python asked for.
   * @type {Record<string, Ends> | null} */
  destination = null
  /** What the figure was read for.
   * @type {string | null} */
  state = null
  /** The room there is, in CSS pixels, and what the figure was read for. */
  available = 0
  width = 0
  /** @type {number | null} */
  waiting = null
  /** @type {number | undefined} */
  resting
  fullDue = 0
  /** Changes of ours that Plotly is at. */
  busy = 0
  isListening = false
  /** Where pictures have one.
   * @type {Lens | undefined} */
  lens
  /** @type {Map<number, import("./lines.js").Kept>} */
  curves = new Map()
  parts = new Parts()

  /** @param {HTMLElement | ShadowRoot} parent
   * @param {Component<Uint8Array>} component */
  constructor(parent, component) {
    this.component = component
    this.root = parent.appendChild(document.createElement("div"))
    this.root.className = "live-plot"
    this.root.innerHTML = HTML
    const [, layer, graph, button] = this.root.children
    this.layer = layer
    this.graph = /** @type {GraphElement} */ (graph)
    this.notes = new Notes(parent)
    this.zoom = new Zoom(
      /** @type {HTMLElement} */ (button),
      (zoom) => this.component.setStateValue("zoom", zoom),
      (change) => this.plotly.relayout(this.graph, change),
    )
    this.heatmaps = new Heatmaps(this.layer)
    this.ranges = new Ranges(this.graph)
    page.charts++
    keepOpaque(this.root)
    this.player = new Player(this.root, () => this.flip())
    this.resizing = new ResizeObserver(([{ contentRect }]) => {
      this.available = Math.floor(contentRect.width)
      if (this.available !== this.width) this.wake()
    })
    this.resizing.observe(this.root)
    this.resized = () => this.look?.fills && this.anew()
    addEventListener("resize", this.resized)
    addEventListener("toggle", this.resized, true) // what unfolds above
  }

  destroy() {
    this.destroyed = true
    page.charts--
    this.player.stop()
    this.resizing.disconnect()
    removeEventListener("resize", this.resized)
    removeEventListener("toggle", this.resized, true)
    clearTimeout(this.resting)
    this.notes.destroy()
    this.lens?.destroy()
    this.zoom.stop()
    if (this.plotly) this.plotly.purge(this.graph)
  }

  /** @param {Uint8Array} bytes
   * @param {Component<Uint8Array>} component */
  receive(bytes, component) {
    this.component = component
    if (bytes === this.bytes) return this.wake() // only the theme has changed
    this.bytes = bytes
    /** @type {{ header: FrameHeader, buffers: Numbers[] }} */
    const { header: frame, buffers } = unpack(bytes)
    page.frames++
    this.destination = frame.zoom ?? this.destination
    this.layer.setAttribute("aria-label", frame.alt)
    if (frame.lens) this.lens ??= new Lens(this)
    this.root.style.minHeight ||= `${frame.height ?? 450}px`
    /** @type {Frame["y"]} */
    const y = new Map()
    for (const [i, name] of frame.lines.entries())
      y.set(name, /** @type {Float32Array} */ (buffers[i]))
    this.present({ ...frame, number: ++this.received, y })
  }

  /** Show a frame once all it names is here.
   * @param {Omit<Frame, "arrays" | "drawing">} named */
  async present(named) {
    const { number } = named
    const isNewest = () => number === this.received && !this.destroyed
    const missing = (/** @type {number} */ tries) => this.component.setStateValue("missing", tries)
    this.library ??= loadPlotly(named.plotly).then((plotly) => this.begin(plotly))
    const parts = await this.parts.complete(named, isNewest, missing)
    if (!parts || this.frame?.number > number || this.destroyed) return
    this.frame = { ...named, ...parts }
    const counts = [...parts.arrays.values()].map(({ frames }) => frames)
    this.player.describe(Math.max(1, ...counts), named.snapshots)
    this.arrived = true
    this.wake()
  }

  /** From now on Plotly draws.
   * @param {PlotlyLibrary} plotly */
  begin(plotly) {
    this.plotly = plotly
    this.arrived = Boolean(this.frame)
    this.anew()
  }

  // Draw the newest state in the next animation frame.
  wake() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null
      if (!this.destroyed) this.draw()
    })
  }

  draw() {
    const { frame } = this
    if (!frame || !this.available) return
    if (this.plotly && isDragged(this.graph)) return this.wake()
    if (this.destination) {
      this.zoom.goTo(this.destination, this.painted > 0)
      this.destination = null
    }
    const isNew = this.prepare()
    if (!this.plotly) {
      if (!this.early()) return
    } else if (isNew) this.full(this.arrived && this.painted > 0)
    else if (this.arrived) this.quick()
    if (!this.arrived) return
    this.arrived = false
    if (frame.number === this.received) this.parts.keep(frame)
    this.notes.show(frame.notes)
    this.lens?.show()
    this.root.dataset.painted = String(++this.painted)
    this.settle()
  }

  // Read the figure again, and draw all of it.
  anew() {
    this.state = null
    this.wake()
  }

  // Read the figure, if another one or another look of it is wanted; whether that is so.
  prepare() {
    const { frame, heatmaps, root, available } = this
    const shapes = [...frame.arrays].map(([name, { rows, cols }]) => `${name} ${rows} ${cols}`)
    const mixed = Object.keys(frame.mixes)
    const state = JSON.stringify([
      frame.figure, shapes, mixed, theme(root), available, frame.height, isLarge(),
    ]) // biome-ignore format: a list
    if (state === this.state) return false
    this.state = state
    this.width = available
    this.look = readFigure(frame.drawing, root, available, frame.height, () => this.anew())
    const { names, traces, layout } = this.look
    root.style.minHeight = `${layout.height}px`
    heatmaps.prepare(names, traces, layout, frame)
    root.classList.toggle(PAINTED, heatmaps.onCanvas)
    return true
  }

  get names() {
    return this.look.names
  }

  // The layout with what this frame changes in it, and where the reader has gone.
  patched() {
    const layout = structuredClone(this.look.layout)
    for (const [path, value] of Object.entries(this.frame.patch)) put(layout, path, value)
    this.zoom.place(layout, allAxes(this.graph, layout))
    const ranges = Object.fromEntries(axesOf(layout).map((name) => [name, layout[name].range]))
    for (const [name, step] of Object.entries(steps(this.look.layout, ranges)))
      if (step) layout[name].dtick = step
    return layout
  }

  // The cells alone, while plotly.js is on its way; whether that is possible.
  early() {
    const { frame, heatmaps } = this
    const chart = heatmaps.onCanvas && foreseen(this.patched(), this.look.traces, this.width)
    if (!chart) return false
    heatmaps.forget()
    heatmaps.paint(chart, frame, this.player.index)
    heatmaps.place(chart)
    this.root.dataset.state = "early"
    return true
  }

  /** Everything through Plotly. While values move, heatmaps get stand-ins of four cells.
   * @param {boolean} moving */
  full(moving) {
    const { frame, graph, heatmaps } = this
    const start = performance.now()
    const light = moving && heatmaps.canStandIn()
    const layout = this.patched()
    const data = this.look.traces.map((trace, i) => ({ ...trace, ...this.content(i, light) }))
    this.own(() => this.plotly.react(graph, data, layout, this.look.config(this)))
    leaveCells(graph)
    if (!this.isListening) heed(this)
    this.isListening = true
    this.ranges.drawn(frame.patch)
    const end = performance.now()
    this.fullDue = end + Math.max(FULL_PAUSE, FULL_SHARE * (end - start))
    this.curves = new Map()
    heatmaps.forget()
    heatmaps.paint(drawn(graph), frame, this.player.index)
    heatmaps.place(drawn(graph))
    this.zoom.offerReset()
    this.root.dataset.state = light ? "moving" : "rest"
  }

  /** What a trace gets besides what the figure says of it.
   * @param {number} index
   * @param {boolean} light whether stand-ins do for cells */
  content(index, light) {
    const { frame, heatmaps } = this
    const name = this.names[index]
    const uid = `live${index}`
    const y = frame.y.get(name)
    if (y) return { y: this.grown(index, y), uid }
    if (!frame.mixes[name]) return { uid }
    const cells = light ? heatmaps.standIn(name) : heatmaps.cells(name, frame, this.player.index)
    return { uid, ...cells }
  }

  // What changed since the last frame, past Plotly where that looks the same.
  quick() {
    const { frame, graph, heatmaps } = this
    if (!heatmaps.onCanvas) return this.full(false)
    /** @type {[index: number, y: Float32Array, line: DrawnLine][]} */
    const curves = []
    for (const [name, y] of frame.y) {
      const index = this.names.indexOf(name)
      const line = lineOf(graph, index, y)
      if (!line) return this.full(true)
      curves.push([index, y, line])
    }
    // What takes a full draw may wait: colours and colour bar, curves and axis agree all the same.
    const changed = this.ranges.show(frame.patch, this.zoom.axes)
    if (!changed && performance.now() > this.fullDue) return this.full(true)
    for (const name of changed || []) {
      /** @type {Ends | undefined} */
      const range = frame.patch[`${name}.range`]
      if (range) this.zoom.home[name] = [...range]
      else heatmaps.repaint()
    }
    heatmaps.paint(drawn(graph), frame, this.player.index)
    for (const [index, y, line] of curves)
      this.curves.set(index, move(line, this.grown(index, y), this.curves.get(index)))
    this.root.dataset.state = "moving"
  }

  // When nothing has moved for a while, and no slider is held, Plotly gets the true values.
  settle() {
    clearTimeout(this.resting)
    if (!this.plotly) return
    this.resting = setTimeout(() => {
      if (isDragged(this.graph)) return this.settle()
      if (page.held) {
        if (this.ranges.differs(this.frame.patch)) this.quick()
        return this.settle()
      }
      if (this.root.dataset.state !== "rest") this.full(false)
    }, REST)
  }

  // Another snapshot of the same frame.
  flip() {
    if (!this.frame || this.destroyed) return
    this.arrived = true
    this.wake()
  }

  /** The part of a growing line that belongs to the snapshot shown.
   * @param {number} index
   * @param {Float32Array} y */
  grown(index, y) {
    if (!this.frame.grow.includes(this.names[index])) return y
    const end = Math.ceil((y.length * (this.player.index + 1)) / this.player.count)
    return y.map((value, i) => (i < end ? value : NaN))
  }

  /** Changes of ours are not the reader's zoom.
   * @param {() => Promise<unknown>} change */
  own(change) {
    this.busy++
    Promise.resolve(change()).finally(() => this.busy--)
  }
}

/** @param {Component<Uint8Array>} component */
export default (component) => {
  const { parentElement, data } = component
  const chart = charts.get(parentElement) ?? new Chart(parentElement, component)
  charts.set(parentElement, chart)
  chart.receive(data, component)
  return () => {
    if (isMounted(parentElement)) return
    chart.destroy()
    charts.delete(parentElement)
  }
}
