// A heatmap's cells by keyboard: arrow keys move a cursor, Enter is a click on the cell under it.
// It listens to what Plotly draws and to keys, so that frames which pass Plotly by cost it nothing.
import CSS from "./cursor.css"
import { shapeOf } from "./mixing.js"
import { cellsOf, clickHovered, hoverWords, isVisible } from "./plotly.js"

const PAUSE = 80 // ms after a key until the cell is said; Plotly's own pause between labels is 50
const FAR = 10 // cells, with Shift
const LEAST = 8 // pixels along a side of the mark, so that a tiny cell can be found
/** @type {Record<string, [right: number, higher: number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }
const HOW =
  "Cells of the chart: arrow keys move, with Shift by ten, Home and End along the row, " +
  "Space goes to the next picture, Enter is a click"

/** A cell, in the traces' order.
 * @typedef {{ curve: number, row: number, column: number }} Place
 * The cells that can be seen along an axis, and whether they count rightwards, upwards.
 * @typedef {{ first: number, last: number, sign: number }} Window
 * @typedef {CellEdges & Window} Side
 * @typedef {{ subplot: string, across: Side, up: Side }} Grid */

export class Cursor {
  /** @type {Place | null} */
  place = null
  /** @type {number | undefined} */
  saying

  /** Made once Plotly has drawn the chart.
   * @param {{ graph: GraphElement, plotly: PlotlyLibrary, names: string[], frame: Frame,
   *   lens?: import("./lens.js").Lens }} chart */
  constructor(chart) {
    this.chart = chart
    const { graph } = chart
    this.box = document.createElement("div")
    this.box.className = "live-plot-cursor"
    this.box.tabIndex = 0
    this.box.setAttribute("role", "application")
    this.box.setAttribute("aria-label", HOW)
    this.box.innerHTML = `<style>${CSS}</style><i></i><span role="status"></span>`
    const [, mark, status] = this.box.children
    this.mark = /** @type {HTMLElement} */ (mark)
    this.status = status
    graph.after(this.box)
    this.box.onfocus = () => this.show()
    this.box.onblur = () => this.leave()
    this.box.onkeydown = (event) => this.key(event)
    graph.on("plotly_afterplot", () => this.drawn())
    graph.on("plotly_click", ({ points: [{ curveNumber: curve, pointNumber }] }) => {
      if (Array.isArray(pointNumber))
        this.place = { curve, row: pointNumber[0], column: pointNumber[1] }
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
    return names.flatMap((name, i) => (frame.mixes[name] && isVisible(graph, i) ? [i] : []))
  }

  /** A trace's cells on its axes; null while Plotly has stand-ins for them.
   * @param {number} curve
   * @returns {Grid | null} */
  grid(curve) {
    const { graph, names, frame } = this.chart
    const cells = cellsOf(graph, curve, shapeOf(frame.mixes[names[curve]], frame.arrays))
    if (!cells) return null
    const { subplot, x, y } = cells
    return { subplot, across: { ...x, ...visible(x) }, up: { ...y, ...visible(y) } }
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
    const row = clamp(this.place.row, grid.up)
    const column = clamp(this.place.column, grid.across)
    this.place = { curve, row, column }
    const [left, width] = extent(grid.across, column)
    const [top, height] = extent(grid.up, row)
    Object.assign(this.mark.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
    })
    this.mark.scrollIntoView({ block: "nearest", inline: "nearest" })
    const { plotly, graph } = this.chart
    const at = { xval: middle(grid.across.edges, column), yval: middle(grid.up.edges, row) }
    plotly.Fx.hover(graph, [{ curveNumber: curve, ...at }], grid.subplot)
    this.chart.lens?.point(this.chart.names[curve], row, column)
    clearTimeout(this.saying)
    this.saying = setTimeout(() => {
      this.status.textContent = hoverWords(graph) || "no value"
    }, PAUSE)
  }

  leave() {
    clearTimeout(this.saying)
    this.status.textContent = ""
    this.chart.plotly.Fx.unhover(this.chart.graph)
    this.chart.lens?.leave()
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { place } = this
    if (!place || event.ctrlKey || event.altKey || event.metaKey) return
    const grid = this.grid(place.curve)
    if (!grid) return
    const next = event.key === "Enter" ? place : after(event, place, grid, this.curves())
    if (!next) return
    event.preventDefault()
    event.stopPropagation()
    this.place = next
    if (event.key !== "Enter") return this.show()
    // What Plotly says of a click where its label is.
    setTimeout(() => this.place && clickHovered(this.chart.graph, this.place), PAUSE)
  }
}

/** Where a key takes the cursor, maybe out of the window; null for one that means nothing here.
 * @param {{ key: string, shiftKey: boolean }} event
 * @param {Place} place
 * @param {{ across: Window, up: Window }} grid
 * @param {number[]} curves the traces that have cells
 * @returns {Place | null} */
export function after({ key, shiftKey }, place, { across, up }, curves) {
  const { curve, row, column } = place
  if (Object.hasOwn(ARROWS, key)) {
    const [right, higher] = ARROWS[key].map((step) => step * (shiftKey ? FAR : 1))
    return { curve, row: row + higher * up.sign, column: column + right * across.sign }
  }
  if (key === "Home" || key === "End") {
    const isFirst = (key === "Home") === across.sign > 0
    return { curve, row, column: isFirst ? -Infinity : Infinity }
  }
  if (key === " ") {
    const next = curves.indexOf(curve) + (shiftKey ? -1 : 1)
    return { curve: curves[(next + curves.length) % curves.length], row, column }
  }
  return null
}

/** The first and the last cell whose middle can be seen.
 * @param {{ range: Ends, edges: number[] }} side
 * @returns {Window} */
export function visible({ range, edges }) {
  const [low, high] = [Math.min(...range), Math.max(...range)]
  const cells = Array.from({ length: edges.length - 1 }, (_, i) => i)
  const inside = cells.filter((i) => middle(edges, i) >= low && middle(edges, i) <= high)
  const sign = Math.sign(range[1] - range[0]) * Math.sign(edges[1] - edges[0])
  return { first: inside[0] ?? 0, last: inside.at(-1) ?? cells.length - 1, sign }
}

/** @param {number[]} edges
 * @param {number} index */
const middle = (edges, index) => (edges[index] + edges[index + 1]) / 2

/** @param {number} index
 * @param {Window} window */
const clamp = (index, { first, last }) => Math.min(Math.max(index, first), last)

/** Where a cell's mark begins along an axis and how long it is, in pixels of the chart.
 * @param {CellEdges} side
 * @param {number} index
 * @returns {[start: number, length: number]} */
export function extent({ edges, toPixel }, index) {
  const ends = [toPixel(edges[index]), toPixel(edges[index + 1])]
  const length = Math.max(Math.abs(ends[1] - ends[0]), LEAST)
  return [(ends[0] + ends[1] - length) / 2, length]
}
