// A Plotly chart that stays: full draws go through Plotly.react, moving values past it. See plot.py.
import { awayFrom, axesOf, overlap } from "./axes.js"
import { Cursor } from "./cursor.js"
import { CSS, dress, merge, put } from "./dress.js"
import { Heatmaps } from "./heatmaps.js"
import { enlarge, isLarge } from "./large.js"
import { isTraceable, pathsOf, trace } from "./lines.js"
import { fetchPart, loadPlotly } from "./load.js"
import { buffers, header, page, theme } from "./packet.js"
import { Player } from "./player.js"

const REST = 200 // ms without a new frame until Plotly gets the true values
const PATCH_PAUSE = 250 // ms between full draws while values move, at least,
const PATCH_SHARE = 5 // and so many times as long as the last one took
const ZOOM_PAUSE = 250 // ms after the last change of an axis until the server hears of it
const RETRY = 500 // ms until a part that the server didn't have is asked for again,
const TRIES = 5 // so many times

const charts = new WeakMap()

class Chart {
  constructor(parent) {
    this.root = parent.appendChild(document.createElement("div"))
    this.root.className = "live-plot"
    this.root.innerHTML = `<style>${CSS}</style><div class="live-plot-layer" role="img"></div><div></div>
      <button type="button" hidden>Reset zoom</button>`
    ;[, this.layer, this.graph, this.button] = this.root.children
    this.button.onclick = () => this.reset()
    this.heatmaps = new Heatmaps(this.layer)
    page.charts++
    this.zoom = {}
    this.parts = new Map()
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
    clearTimeout(this.telling)
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
    this.present(frame, TRIES)
  }

  // Show a frame once all it names is here.
  async present(frame, tries) {
    try {
      await this.complete(frame)
    } catch (error) {
      this.parts.clear()
      if (!error.missing || !tries) throw error
      // The server forgets what nobody has used for long, or is another one now. A run puts it back.
      if (frame.number === this.received) this.tell.setStateValue("missing", tries)
      await new Promise((resolve) => setTimeout(resolve, RETRY))
      if (frame.number === this.received && !this.destroyed) this.present(frame, tries - 1)
      return
    }
    if (this.frame?.number > frame.number || this.destroyed) return
    this.frame = frame
    const counts = [...frame.arrays.values()].map(({ frames }) => frames)
    this.player.describe(Math.max(1, ...counts), frame.snapshots)
    this.arrived = true
    this.wake()
  }

  // Plotly, and the parts (arrays, figure) that a frame names; only what isn't here is fetched.
  async complete(frame) {
    const part = (id) => {
      if (!this.parts.has(id)) this.parts.set(id, fetchPart(location.origin + frame.parts + id))
      return this.parts.get(id)
    }
    const names = Object.keys(frame.needs)
    const [plotly, figure, ...arrays] = await Promise.all([
      loadPlotly(frame.plotly), part(frame.figure), ...names.map((name) => part(frame.needs[name])),
    ])
    Object.assign(frame, { drawing: figure.cells, arrays: new Map(names.map((name, i) => [name, arrays[i]])) })
    this.plotly = plotly
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
    if (this.destination) this.goTo(this.destination)
    const shapes = [...frame.arrays].map(([name, { rows, cols }]) => `${name} ${rows} ${cols}`)
    const mixed = Object.keys(frame.mixes)
    const state = JSON.stringify(
      [frame.figure, shapes, mixed, theme(this.root), this.available, frame.height,
        isLarge()])
    if (state !== this.state) {
      this.state = state
      this.prepare()
      this.full(this.arrived && this.painted > 0)
    } else if (this.arrived) this.quick()
    if (!this.arrived) return
    this.arrived = false
    const used = new Set([frame.figure, ...Object.values(frame.needs)])
    if (frame.number === this.received)
      for (const id of this.parts.keys()) if (!used.has(id)) this.parts.delete(id)
    this.root.dataset.painted = ++this.painted
    this.settle()
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
    if (isLarge()) layout = enlarge(layout)
    layout.width = this.width
    this.root.style.minHeight = `${layout.height}px`
    this.base = dress(layout, this.root, this.traces)
    this.heatmaps.prepare(this.names, this.traces, this.base.layout, frame)
    this.root.classList.toggle("live-plot-painted", this.heatmaps.onCanvas)
  }

  // Everything through Plotly. While values move, heatmaps get stand-ins of four cells.
  full(moving) {
    const { frame, plotly, heatmaps } = this
    const start = performance.now()
    heatmaps.frame = frame
    const light = moving && heatmaps.canStandIn()
    const layout = structuredClone(this.base.layout)
    for (const [path, value] of Object.entries(frame.patch)) put(layout, path, value)
    this.home = {}
    for (const axis of axesOf({ ...this.graph._fullLayout, ...layout })) {
      const range = layout[axis]?.range
      this.home[axis] = range && [...range]
      if (!this.zoom[axis]) continue
      if (range && !overlap(this.zoom[axis], range)) delete this.zoom[axis]
      else layout[axis] = { ...layout[axis], range: [...this.zoom[axis]], autorange: false }
    }
    const data = this.traces.map((trace, i) => {
      const name = this.names[i]
      const y = frame.y.get(name)
      if (y) return { ...trace, y: this.grown(i, y), uid: `live${i}` }
      if (!frame.mixes[name]) return { ...trace, uid: `live${i}` }
      const cells = light ? heatmaps.standIn(name) : heatmaps.cells(name, this.player.index)
      return { ...trace, uid: `live${i}`, ...cells }
    })
    this.own(() => plotly.react(this.graph, data, layout, this.base.config(this)))
    if (!this.listening) this.listen()
    this.patch = JSON.stringify(frame.patch)
    const end = performance.now()
    this.patchDue = end + Math.max(PATCH_PAUSE, PATCH_SHARE * (end - start))
    this.curves = new Map()
    heatmaps.forget()
    heatmaps.paint(this.graph, frame, this.player.index)
    heatmaps.place(this.graph)
    this.offerReset()
    this.root.dataset.state = light ? "moving" : "rest"
  }

  // What changed since the last frame, past Plotly where that looks the same.
  quick() {
    const { frame, graph, heatmaps } = this
    if (!heatmaps.onCanvas) return this.full(false)
    const curves = [...frame.y].map(([name, y]) => [this.names.indexOf(name), y])
    if (!curves.every(([index, y]) => isTraceable(graph, index, y))) return this.full(true)
    if (this.isPatchDue()) return this.full(true)
    heatmaps.paint(graph, frame, this.player.index)
    for (const [index, y] of curves) {
      if (!this.curves.has(index)) this.curves.set(index, pathsOf(graph, index))
      trace(graph, index, this.grown(index, y), this.curves.get(index))
    }
    this.root.dataset.state = "moving"
  }

  // A patch may wait: colours and colour bar, curves and axis agree with each other all the same.
  isPatchDue() {
    return performance.now() > this.patchDue && JSON.stringify(this.frame.patch) !== this.patch
  }

  // When nothing has moved for a while, and no slider is held, Plotly gets the true values.
  settle() {
    clearTimeout(this.resting)
    this.resting = setTimeout(() => {
      if (page.held) {
        if (this.isPatchDue()) this.full(true)
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
    graph.on("plotly_relayouting", () => this.heatmaps.place(graph))
    graph.on("plotly_doubleclick", () => this.reset())
    graph.on("plotly_relayout", (change) => {
      const moved = Object.keys(change).some((path) => /^[xy]axis\d*\.(auto)?range/.test(path))
      if (moved && !this.busy) this.zoomed()
    })
    graph.on("plotly_click", ({ points: [point] }) => {
      const { pointNumber, curveNumber, x, y } = point
      const [row, column] = Array.isArray(pointNumber) ? pointNumber : [null, pointNumber]
      this.tell.setTriggerValue("click", { trace: this.names[curveNumber], x, y, row, column })
    })
  }

  zoomed() {
    this.zoom = awayFrom(this.home, this.graph._fullLayout)
    this.offerReset()
    clearTimeout(this.telling)
    this.telling = setTimeout(() => {
      const zoom = JSON.stringify(this.zoom)
      if (zoom === (this.told ?? "{}")) return
      this.told = zoom
      this.tell.setStateValue("zoom", { ...this.zoom })
    }, ZOOM_PAUSE)
  }

  // The zoom that Python asked for; Python hears of it as if the reader had zoomed.
  goTo(zoom) {
    this.destination = null
    if (this.painted) this.show({ ...this.home, ...zoom })
    else if (Object.keys(zoom).length) {
      this.told = JSON.stringify(zoom)
      this.tell.setStateValue("zoom", zoom)
    }
    this.zoom = { ...zoom } // a full draw of the same frame keeps to it
  }

  reset() {
    this.show(this.home)
  }

  // Move the zoomed axes, and those that shall be, to these ranges; undefined is "as the data are".
  show(ranges) {
    const change = {}
    for (const [axis, range] of Object.entries(ranges)) {
      if (!this.zoom[axis] && range === this.home[axis]) continue
      if (range) change[`${axis}.range`] = [...range]
      else change[`${axis}.autorange`] = true
    }
    if (Object.keys(change).length) this.plotly.relayout(this.graph, change)
  }

  offerReset() {
    this.button.hidden = !Object.keys(this.zoom).length
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
