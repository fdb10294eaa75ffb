// All that these scripts know of Plotly beyond its documentation: private fields, classes of its
// elements, what its modules do. An upgrade that changes them breaks this file and plotly.css.

import { withMinusSigns } from "./numbers.js"

// The class of a chart whose cells are painted here: plotly.css hides those that Plotly drew.
export const PAINTED = "live-plot-painted"

/** "x2" → "xaxis2"
 * @param {string} id */
export const axisName = (id) => `${id[0]}axis${id.slice(1)}`

/** @param {Layout} layout */
export const axesOf = (layout) => Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name))

/** @type {Promise<PlotlyLibrary> | null} */
let library = null
let isLeft = false

/** plotly.js, once per browser page.
 * @param {string} url
 * @returns {Promise<PlotlyLibrary>} */
export function loadPlotly(url) {
  library ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly)
    const script = Object.assign(document.createElement("script"), { src: location.origin + url })
    script.onload = () => resolve(/** @type {PlotlyLibrary} */ (window.Plotly))
    script.onerror = () => reject(new Error(`plotly.js not found at ${url}`))
    document.head.append(script)
  })
  return library
}

/** A graph with the fields that Plotly keeps for itself.
 * @param {GraphElement} graph
 * @returns {any} */
const inside = (graph) => graph

/** A chart whose cells are on canvases needs no heatmap drawn by Plotly (100 ms each): it keeps the
 * values, for hover, click and export. The trace's module is only reached through a chart with one.
 * @param {GraphElement} graph */
export function leaveCells(graph) {
  /** @type {Trace[]} */
  const traces = inside(graph)._fullData
  const heatmap = !isLeft && traces.find(({ type }) => type === "heatmap")?._module
  if (!heatmap) return
  isLeft = true
  const draw = heatmap.plot
  heatmap.plot = (/** @type {GraphElement} */ drawn, /** @type {unknown[]} */ ...rest) => {
    if (!drawn.parentElement?.classList.contains(PAINTED)) draw(drawn, ...rest)
  }
}

/** The graph in the element of a selector.
 * @param {string} selector
 * @returns {GraphElement | null} */
export const graphIn = (selector) => document.querySelector(`${selector} .js-plotly-plot`)

/** The chart as Plotly has worked it out.
 * @param {GraphElement} graph
 * @returns {Drawn} */
export function drawn(graph) {
  const { _fullLayout: layout, _fullData: traces } = inside(graph)
  const axis = (/** @type {string} */ id) => {
    const { range, _offset: offset, _length: length } = layout[axisName(id)]
    return { range, offset, length }
  }
  return { traces, layout, axis }
}

/** The chart as Plotly will work it out, of a layout with all its margins, as far as painting cells
 * needs it; null where there are none or only Plotly can tell.
 * @param {Layout} layout
 * @param {Trace[]} given
 * @param {number} width
 * @returns {Drawn | null} */
export function foreseen(layout, given, width) {
  const { height, margin } = layout
  const sides = ["l", "r", "t", "b"].map((side) => margin?.[side])
  if (!sides.every(Number.isFinite)) return null
  const [left, right, top, bottom] = sides.map(Math.round)
  const across = Math.round(width) - left - right
  const up = Math.round(height) - top - bottom
  /** @type {Record<string, PlacedAxis>} */
  const axes = {}
  for (const name of axesOf(layout)) {
    const { range, domain: [start, end] = [0, 1], automargin, scaleanchor } = layout[name]
    if (automargin || scaleanchor) return null
    axes[name] = name.startsWith("x")
      ? { range, offset: left + start * across, length: (end - start) * across }
      : { range, offset: top + (1 - end) * up, length: (end - start) * up }
  }
  /** @type {Trace[]} */
  const traces = given.map((trace) => ({ xaxis: "x", yaxis: "y", ...trace }))
  const heatmaps = traces.filter(({ type }) => type === "heatmap")
  const isKnown = (/** @type {Trace} */ { xaxis, yaxis, coloraxis, ...own }) => {
    const { colorscale, cmin, cmax } = layout[coloraxis] ?? {
      ...own,
      cmin: own.zmin,
      cmax: own.zmax,
    }
    const isPlaced = axes[axisName(xaxis)]?.range && axes[axisName(yaxis)]?.range
    return isPlaced && Array.isArray(colorscale) && cmin != null && cmax != null
  }
  if (!heatmaps.length || !heatmaps.every(isKnown)) return null
  return { traces, layout, axis: (id) => axes[axisName(id)] }
}

/** The names of all axes, also of those that only Plotly has given the chart.
 * @param {GraphElement} graph
 * @param {Layout} layout */
export const allAxes = (graph, layout) => axesOf({ ...inside(graph)._fullLayout, ...layout })

/** The width and the height of the chart, in CSS pixels.
 * @param {GraphElement} graph
 * @returns {{ width: number, height: number }} */
export const sizeOf = (graph) => inside(graph)._fullLayout

/** Give an axis or a colour axis another range, without drawing its ticks anew.
 * @param {GraphElement} graph
 * @param {string} name as "yaxis2" or "coloraxis"
 * @param {Ends} ends
 * @returns {boolean} false where no trace uses it */
export function setRange(graph, name, [start, end]) {
  const axis = inside(graph)._fullLayout[name]
  if (!axis) return false
  if (name.startsWith("coloraxis")) Object.assign(axis, { cmin: start, cmax: end })
  else {
    axis.range = [start, end]
    axis.setScale()
  }
  return true
}

/** The texts at the ticks of an axis or of a colour axis's bar.
 * @param {GraphElement} graph
 * @param {string} name
 * @returns {Element[]} */
export function tickTexts(graph, name) {
  const isColour = name.startsWith("coloraxis")
  const ticks = isColour ? `.cb${name} .cbaxis text` : `.${name.replace("axis", "")}tick text`
  return [...graph.querySelectorAll(ticks)]
}

/** The text of an axis's title.
 * @param {GraphElement} graph
 * @param {string} name as "yaxis2"
 * @returns {Element | null} */
export const titleText = (graph, name) =>
  graph.querySelector(`.infolayer .${name.replace("axis", "")}title`)

/** Whether the reader sees a trace.
 * @param {GraphElement} graph
 * @param {number} index */
export const isVisible = (graph, index) => inside(graph)._fullData[index]?.visible === true

/** Where a heatmap's cells are; null while Plotly holds stand-ins of another shape.
 * @param {GraphElement} graph
 * @param {number} curve
 * @param {{ rows: number, cols: number }} shape
 * @returns {{ subplot: string, x: CellEdges, y: CellEdges } | null} */
export function cellsOf(graph, curve, { rows, cols }) {
  const { calcdata, _fullData, _fullLayout } = inside(graph)
  const [cells] = calcdata[curve]
  if (cells.z?.length !== rows || cells.z[0].length !== cols) return null
  const { xaxis, yaxis } = _fullData[curve]
  const along = (/** @type {string} */ id, /** @type {number[]} */ edges) => {
    const axis = _fullLayout[axisName(id)]
    const toPixel = (/** @type {number} */ value) => axis._offset + axis.c2p(value)
    return { range: axis.range, edges, toPixel }
  }
  return { subplot: `${xaxis}${yaxis}`, x: along(xaxis, cells.x), y: along(yaxis, cells.y) }
}

/** The axes of the subplot whose area for dragging an event has met, as ["x2", "y2"].
 * @param {EventTarget | null} target
 * @returns {string[] | undefined} */
export function subplotUnder(target) {
  const area = target instanceof Element ? target.closest(".draglayer [data-subplot]") : null
  return /** @type {SVGElement | null} */ (area)?.dataset.subplot?.match(/[xy]\d*/g) ?? undefined
}

/** Whether the reader holds a mouse button over the chart: a new drawing would end the drag.
 * @param {GraphElement} graph
 * @returns {boolean} */
export const isDragged = (graph) => Boolean(inside(graph)._dragging)

/** Whether the reader may move an axis.
 * @param {GraphElement} graph
 * @param {string} id */
export const isMovable = (graph, id) => !inside(graph)._fullLayout[axisName(id)].fixedrange

/** See to it that the labels that Plotly shows have true minus signs, before they are painted.
 * @param {GraphElement} graph */
export function watchLabels(graph) {
  const layer = graph.querySelector(".hoverlayer")
  if (!layer) return
  const mend = () => {
    const walk = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const words = withMinusSigns(node.nodeValue ?? "")
      if (words !== node.nodeValue) node.nodeValue = words
    }
  }
  new MutationObserver(mend).observe(layer, { childList: true, subtree: true, characterData: true })
}

/** The words of the label that Plotly shows: what a reader with a mouse sees.
 * @param {GraphElement} graph */
export function hoverWords(graph) {
  const labels = [...graph.querySelectorAll(".hoverlayer .hovertext text")]
  const words = labels.flatMap((label) => {
    const lines = [...label.querySelectorAll("tspan.line")]
    return (lines.length ? lines : [label]).map(({ textContent }) => textContent?.trim())
  })
  return withMinusSigns(words.filter(Boolean).join(", "))
}

/** Say that the cell under Plotly's label was clicked, if it is this one.
 * @param {GraphElement} graph
 * @param {{ curve: number, row: number, column: number }} cell */
export function clickHovered(graph, { curve, row, column }) {
  const points = inside(graph)._hoverdata
  const [point] = points ?? []
  if (point?.curveNumber === curve && String(point.pointNumber) === `${row},${column}`)
    graph.emit("plotly_click", { points })
}

/** A simple line that can be moved without Plotly to new values y, which stay within its axis; null
 * for any other.
 * @param {GraphElement} graph
 * @param {number} index
 * @param {Float32Array} y
 * @returns {DrawnLine | null} */
export function lineOf(graph, index, y) {
  const { calcdata, _fullData, _fullLayout } = inside(graph)
  const trace = _fullData[index]
  if (trace.type !== "scatter" || !/^lines(\+markers)?$/.test(trace.mode) || trace.fill !== "none")
    return null
  if (trace.line.shape !== "linear" || trace.visible !== true) return null
  if (calcdata[index]?.length !== y.length) return null
  const [across, up] = [trace.xaxis, trace.yaxis].map((id) => _fullLayout[axisName(id)])
  if (up.autorange) {
    const [low, high] = [Math.min(...up.range), Math.max(...up.range)]
    if (!y.every((value) => !(up.d2c(value) < low || up.d2c(value) > high))) return null
  }
  const { x, x0 = 0, dx = 1 } = trace
  return {
    // A line with gaps has several.
    get paths() {
      return [...graph.querySelectorAll(`.trace${trace.uid} path.js-line`)]
    },
    // Plotly draws no point outside the axes, and has lost none then.
    get points() {
      const points = [...graph.querySelectorAll(`.trace${trace.uid} path.point`)]
      return points.length === y.length ? points : []
    },
    across: [across.range, across._length, y.length].join(),
    places: () =>
      Array.from(y, (_, i) => across.c2p(across.d2c(x ? x[i] : x0 + i * dx)).toFixed(2)),
    height: (value) => up.c2p(up.d2c(value)),
  }
}
