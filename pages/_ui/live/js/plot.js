// A Plotly chart that stays: full draws go through Plotly.react, moving values past it. See plot.py.
import { axesOf } from "./axes.js"
import { Cursor } from "./cursor.js"
import { CSS, dress, merge, put } from "./dress.js"
import { foreseen } from "./early.js"
import { Heatmaps } from "./heatmaps.js"
import { enlarge, isLarge } from "./large.js"
import { isTraceable, pathsOf, trace } from "./lines.js"
import { leaveCells, loadPlotly } from "./load.js"
import { CSS as NOTES_CSS, Notes } from "./notes.js"
import { Parts } from "./parts.js"
import { buffers, header, keepOpaque, page, theme } from "./packet.js"
import { Player } from "./player.js"
import { Ranges } from "./ranges.js"
import { Zoom } from "./zoom.js"

const REST = 200 // ms without a new frame until Plotly gets the true values
const FULL_PAUSE = 300 // ms between full draws while values move, at least,
const FULL_SHARE = 10 // and so many times as long as the last one took

const charts = new WeakMap()

class Chart {
  constructor(parent) {
    this.root = parent.appendChild(document.createElement("div"))
    this.root.className = "live-plot"
    this.root.innerHTML = `<style>${CSS}${NOTES_CSS}</style><div class="live-plot-layer" role="img"></div><div></div>
      <button type="button" hidden>Reset zoom</button>`
    const [, layer, graph, button] = this.root.children
    Object.assign(this, { layer, graph })
    this.notes = new Notes(parent)
    const tell = (zoom) => this.tell.setStateValue("zoom", zoom)
    this.zoom = new Zoom(button, tell, (change) => this.plotly.relayout(graph, change))
    this.heatmaps = new Heatmaps(this.layer)
    this.ranges = new Ranges(graph)
    page.charts++
    keepOpaque(this.root)
    this.parts = new Parts()
    this.painted = 0
    this.player = new Player(this.root, () => this.flip())
    this.resizing = new ResizeObserver(([{ contentRect }]) => {
      this.available = Math.floor(contentRect.width)
      if (this.available !== this.width) this.wake()
    })
    this.resizing.observe(this.root)
  }

  destroy() {
    this.destroyed = true
    page.charts--
    this.player.stop()
    this.resizing.disconnect()
    clearTimeout(this.resting)
    this.notes.destroy()
    this.zoom.stop()
    if (this.plotly) this.plotly.purge(this.graph)
  }

  receive(bytes, component) {
    this.tell = component
    if (bytes === this.bytes) return this.wake() // only the theme has changed
    this.bytes = bytes
    const head = header(bytes)
    const numbers = buffers(bytes, head)
    const frame = { ...head, y: new Map(head.lines.map((name, i) => [name, numbers[i]])) }
    page.frames++
    this.destination = head.zoom ?? this.destination
    frame.number = this.received = (this.received ?? 0) + 1
    this.layer.setAttribute("aria-label", frame.alt)
    this.root.style.minHeight ||= `${frame.height ?? 450}px`
    this.present(frame)
  }

  // Show a frame once all it names is here.
  async present(frame) {
    const isNewest = () => frame.number === this.received && !this.destroyed
    const missing = (tries) => this.tell.setStateValue("missing", tries)
    this.library ??= loadPlotly(frame.plotly).then((plotly) => this.begin(plotly))
    const isWhole = await this.parts.complete(frame, isNewest, missing)
    if (!isWhole || this.frame?.number > frame.number || this.destroyed) return
    this.frame = frame
    const counts = [...frame.arrays.values()].map(({ frames }) => frames)
    this.player.describe(Math.max(1, ...counts), frame.snapshots)
    this.arrived = true
    this.wake()
  }

  // From now on Plotly draws.
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
    if (this.destination) {
      this.zoom.goTo(this.destination, this.painted > 0)
      this.destination = null
    }
    const shapes = [...frame.arrays].map(([name, { rows, cols }]) => `${name} ${rows} ${cols}`)
    const mixed = Object.keys(frame.mixes)
    const state = JSON.stringify(
      [frame.figure, shapes, mixed, theme(this.root), this.available, frame.height,
        isLarge()])
    const isNew = state !== this.state
    if (isNew) {
      this.state = state
      this.prepare()
    }
    if (!this.plotly) {
      if (!this.early()) return
    } else if (isNew) this.full(this.arrived && this.painted > 0)
    else if (this.arrived) this.quick()
    if (!this.arrived) return
    this.arrived = false
    if (frame.number === this.received) this.parts.keep(frame)
    this.notes.show(frame.notes)
    this.root.dataset.painted = ++this.painted
    this.settle()
  }

  // Read the figure again, and draw all of it.
  anew() {
    this.state = null
    this.wake()
  }

  // Read the figure: names, traces, layout for this width and theme.
  prepare() {
    const { frame } = this
    const text = new TextDecoder().decode(frame.drawing)
      .replace(/var\((--[\w-]+)\)/g, (_, name) => theme(this.root, name)[0])
    const figure = JSON.parse(text)
    this.names = figure.names
    this.traces = figure.data
    this.width = this.available
    const narrow = this.width < figure.narrowWidth
    let layout = narrow ? merge(figure.layout, figure.narrow) : figure.layout
    if (!(narrow && figure.narrow.height)) layout.height = frame.height ?? layout.height ?? 450
    if (isLarge()) layout = enlarge(layout, () => this.anew())
    layout.width = this.width
    this.root.style.minHeight = `${layout.height}px`
    this.base = dress(layout, this.root, this.traces)
    this.heatmaps.prepare(this.names, this.traces, this.base.layout, frame)
    this.root.classList.toggle("live-plot-painted", this.heatmaps.onCanvas)
  }

  // The layout with what this frame changes in it, and where the reader has gone.
  patched() {
    const layout = structuredClone(this.base.layout)
    for (const [path, value] of Object.entries(this.frame.patch)) put(layout, path, value)
    this.zoom.place(layout, axesOf({ ...this.graph._fullLayout, ...layout }))
    return layout
  }

  // The cells alone, while plotly.js is on its way; whether that is possible.
  early() {
    const { frame, heatmaps } = this
    const graph = heatmaps.onCanvas && foreseen(this.patched(), this.traces, this.width)
    if (!graph) return false
    heatmaps.forget()
    heatmaps.paint(graph, frame, this.player.index)
    heatmaps.place(graph)
    this.root.dataset.state = "early"
    return true
  }

  // Everything through Plotly. While values move, heatmaps get stand-ins of four cells.
  full(moving) {
    const { frame, plotly, heatmaps } = this
    const start = performance.now()
    heatmaps.frame = frame
    const light = moving && heatmaps.canStandIn()
    const layout = this.patched()
    const data = this.traces.map((trace, i) => {
      const name = this.names[i]
      const y = frame.y.get(name)
      if (y) return { ...trace, y: this.grown(i, y), uid: `live${i}` }
      if (!frame.mixes[name]) return { ...trace, uid: `live${i}` }
      const cells = light ? heatmaps.standIn(name) : heatmaps.cells(name, this.player.index)
      return { ...trace, uid: `live${i}`, ...cells }
    })
    this.own(() => plotly.react(this.graph, data, layout, this.base.config(this)))
    leaveCells(this.graph)
    if (!this.listening) this.listen()
    this.ranges.drawn(frame.patch)
    const end = performance.now()
    this.fullDue = end + Math.max(FULL_PAUSE, FULL_SHARE * (end - start))
    this.curves = new Map()
    heatmaps.forget()
    heatmaps.paint(this.graph, frame, this.player.index)
    heatmaps.place(this.graph)
    this.zoom.offerReset()
    this.root.dataset.state = light ? "moving" : "rest"
  }

  // What changed since the last frame, past Plotly where that looks the same.
  quick() {
    const { frame, graph, heatmaps } = this
    if (!heatmaps.onCanvas) return this.full(false)
    const curves = [...frame.y].map(([name, y]) => [this.names.indexOf(name), y])
    if (!curves.every(([index, y]) => isTraceable(graph, index, y))) return this.full(true)
    // What takes a full draw may wait: colours and colour bar, curves and axis agree all the same.
    const changed = this.ranges.show(frame.patch, this.zoom.axes)
    if (!changed && performance.now() > this.fullDue) return this.full(true)
    for (const name of changed || []) {
      if (frame.patch[`${name}.range`]) this.zoom.home[name] = [...frame.patch[`${name}.range`]]
      else heatmaps.repaint()
    }
    heatmaps.paint(graph, frame, this.player.index)
    for (const [index, y] of curves) {
      if (!this.curves.has(index)) this.curves.set(index, pathsOf(graph, index))
      trace(graph, index, this.grown(index, y), this.curves.get(index))
    }
    this.root.dataset.state = "moving"
  }

  // When nothing has moved for a while, and no slider is held, Plotly gets the true values.
  settle() {
    clearTimeout(this.resting)
    if (!this.plotly) return
    this.resting = setTimeout(() => {
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

  // The part of a growing line that belongs to the snapshot shown.
  grown(index, y) {
    if (!this.frame.grow.includes(this.names[index])) return y
    const end = Math.ceil((y.length * (this.player.index + 1)) / this.player.count)
    return y.map((value, i) => (i < end ? value : NaN))
  }

  // Changes of ours are not the reader's zoom.
  own(change) {
    this.busy = (this.busy ?? 0) + 1
    Promise.resolve(change()).finally(() => this.busy--)
  }

  listen() {
    const { graph } = this
    this.listening = true
    new Cursor(this)
    graph.on("plotly_afterplot", () => this.heatmaps.place(graph))
    graph.on("plotly_relayouting", () => {
      this.heatmaps.place(graph)
      this.ranges.drawn()
    })
    graph.on("plotly_doubleclick", () => this.zoom.reset())
    graph.on("plotly_relayout", (change) => {
      this.ranges.drawn()
      const moved = Object.keys(change).some((path) => /^[xy]axis\d*\.(auto)?range/.test(path))
      if (moved && !this.busy) this.zoom.moved(graph._fullLayout)
    })
    graph.on("plotly_click", ({ points: [point] }) => {
      const { pointNumber, curveNumber, x, y } = point
      const [row, column] = Array.isArray(pointNumber) ? pointNumber : [null, pointNumber]
      this.tell.setTriggerValue("click", { trace: this.names[curveNumber], x, y, row, column })
    })
  }
}

export default (component) => {
  const { parentElement, data } = component
  if (!charts.has(parentElement)) charts.set(parentElement, new Chart(parentElement))
  const chart = charts.get(parentElement)
  chart.receive(data, component)
  return () => {
    // Streamlit also calls this when a newer run overtakes a slow one.
    if (parentElement.isConnected) return
    chart.destroy()
    charts.delete(parentElement)
  }
}
