// A heatmap's cells by keyboard: arrow keys move a cursor, Enter is a click on the cell under it.
// It listens to what Plotly draws and to keys, so that frames which pass Plotly by cost it nothing.
import { axisName } from "./axes.js"

const PAUSE = 80 // ms after a key until the cell is said; Plotly's own pause between labels is 50
const FAR = 10 // cells, with Shift
const LEAST = 8 // pixels along a side of the mark, so that a tiny cell can be found
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }
const HOW = "Cells of the chart: arrow keys move, with Shift by ten, Home and End along the row, " +
  "Space goes to the next picture, Enter is a click"

const CSS = `
.live-plot-cursor { position: absolute; inset: 0; pointer-events: none; border-radius: 2px }
.live-plot-cursor[hidden] { display: none }
.live-plot-cursor:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px }
.live-plot-cursor i { display: none; position: absolute; box-sizing: border-box;
  border: 2px solid var(--st-text-color); box-shadow: 0 0 0 2px var(--st-background-color);
  scroll-margin: 5rem }
.live-plot-cursor:focus i { display: block }
.live-plot-cursor [role=status] { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%) }
`

export class Cursor {
  // chart: { graph, plotly, names, frame }; made once Plotly has drawn it.
  constructor(chart) {
    this.chart = chart
    const { graph } = chart
    this.box = document.createElement("div")
    this.box.className = "live-plot-cursor"
    this.box.tabIndex = 0
    this.box.setAttribute("role", "application")
    this.box.setAttribute("aria-label", HOW)
    this.box.innerHTML = `<style>${CSS}</style><i></i><span role="status"></span>`
    ;[, this.mark, this.status] = this.box.children
    graph.after(this.box)
    this.box.onfocus = () => this.show()
    this.box.onblur = () => this.leave()
    this.box.onkeydown = (event) => this.key(event)
    graph.on("plotly_afterplot", () => this.drawn())
    graph.on("plotly_click", ({ points: [{ curveNumber, pointNumber }] }) => {
      if (Array.isArray(pointNumber)) this.place = { curve: curveNumber, row: pointNumber[0], column: pointNumber[1] }
    })
    this.drawn()
  }

  // Plotly has drawn something else, or elsewhere.
  drawn() {
    this.box.hidden = !this.curves().length
    if (document.activeElement === this.box) this.show()
  }

  // The traces that have cells.
  curves() {
    const { names, frame, graph } = this.chart
    return names.flatMap((name, i) => (frame.mixes[name] && graph._fullData[i]?.visible === true ? [i] : []))
  }

  // A trace's axes and the edges of its cells; null while Plotly has stand-ins for them.
  grid(curve) {
    const { graph, names, frame } = this.chart
    const [array] = frame.mixes[names[curve]].find(([name]) => name)
    const { rows, cols } = frame.arrays.get(array)
    const [cells] = graph.calcdata[curve]
    if (cells.z?.length !== rows || cells.z[0].length !== cols) return null
    const { xaxis, yaxis } = graph._fullData[curve]
    const [x, y] = [xaxis, yaxis].map((id) => graph._fullLayout[axisName(id)])
    return {
      subplot: `${xaxis}${yaxis}`,
      across: { axis: x, edges: cells.x, ...visible(x, cells.x) },
      up: { axis: y, edges: cells.y, ...visible(y, cells.y) },
    }
  }

  // Mark the cell, show Plotly's label there, and say it.
  show() {
    const curves = this.curves()
    if (!curves.length) return
    this.place ??= { curve: curves[0], row: -Infinity, column: -Infinity }
    if (!curves.includes(this.place.curve)) this.place.curve = curves[0]
    const { curve } = this.place
    const grid = this.grid(curve)
    if (!grid) return
    const row = this.place.row = clamp(this.place.row, grid.up)
    const column = this.place.column = clamp(this.place.column, grid.across)
    const [left, width] = extent(grid.across, column)
    const [top, height] = extent(grid.up, row)
    Object.assign(this.mark.style, {
      left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`,
    })
    this.mark.scrollIntoView({ block: "nearest", inline: "nearest" })
    const { plotly, graph } = this.chart
    const at = { xval: middle(grid.across.edges, column), yval: middle(grid.up.edges, row) }
    plotly.Fx.hover(graph, [{ curveNumber: curve, ...at }], grid.subplot)
    clearTimeout(this.saying)
    this.saying = setTimeout(() => this.say(), PAUSE)
  }

  // The words of Plotly's label: what a reader with a mouse sees.
  say() {
    const labels = [...this.chart.graph.querySelectorAll(".hoverlayer .hovertext text")]
    const words = labels.flatMap((label) => {
      const lines = [...label.querySelectorAll("tspan.line")]
      return (lines.length ? lines : [label]).map(({ textContent }) => textContent.trim())
    })
    this.status.textContent = words.filter(Boolean).join(", ") || "no value"
  }

  leave() {
    clearTimeout(this.saying)
    this.status.textContent = ""
    this.chart.plotly.Fx.unhover(this.chart.graph)
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const grid = this.place && this.grid(this.place.curve)
    if (!grid || !this.move(event, grid)) return
    event.preventDefault()
    event.stopPropagation()
  }

  // What a key does; false for one that means nothing here.
  move({ key, shiftKey }, { across, up }) {
    const { place } = this
    if (key in ARROWS) {
      const [right, higher] = ARROWS[key].map((step) => step * (shiftKey ? FAR : 1))
      place.column += right * across.sign
      place.row += higher * up.sign
    } else if (key === "Home" || key === "End") {
      place.column = (key === "Home") === across.sign > 0 ? -Infinity : Infinity
    } else if (key === " ") {
      const curves = this.curves()
      const next = curves.indexOf(place.curve) + (shiftKey ? -1 : 1)
      place.curve = curves[(next + curves.length) % curves.length]
    } else if (key === "Enter") {
      setTimeout(() => this.click(), PAUSE)
      return true
    } else return false
    this.show()
    return true
  }

  // What Plotly says of a click where its label is.
  click() {
    const { graph } = this.chart
    const points = graph._hoverdata
    const { curve, row, column } = this.place
    const [point] = points ?? []
    if (point?.curveNumber === curve && String(point.pointNumber) === `${row},${column}`)
      graph.emit("plotly_click", { points })
  }
}

// The first and the last cell whose middle can be seen, and whether they count rightwards, upwards.
function visible({ range }, edges) {
  const [low, high] = [...range].sort((a, b) => a - b)
  const last = edges.length - 2
  const inside = [...edges.keys()].filter((i) => middle(edges, i) >= low && middle(edges, i) <= high)
  const sign = Math.sign(range[1] - range[0]) * Math.sign(edges[1] - edges[0])
  return { first: inside[0] ?? 0, last: inside.at(-1) ?? last, sign }
}

const middle = (edges, index) => (edges[index] + edges[index + 1]) / 2

const clamp = (index, { first, last }) => Math.min(Math.max(index, first), last)

// Where a cell begins along an axis and how long it is, in pixels of the chart.
function extent({ axis, edges }, index) {
  const ends = [edges[index], edges[index + 1]].map((edge) => axis.c2p(edge))
  const length = Math.max(Math.abs(ends[1] - ends[0]), LEAST)
  return [axis._offset + (ends[0] + ends[1] - length) / 2, length]
}
