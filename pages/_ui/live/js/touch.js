// Fingers on a chart: one scrolls the page, a tap is a click, two zoom. Plotly would zoom with one.
import { axisName, isMovable, subplotUnder } from "./plotly.js"

const CLOSEST = 20 // pixels between two fingers, at least: nearer ones would zoom without end

/** The range of an axis, drawn over so many pixels, once two fingers that were at `before` are at
 * `after`: what was under them stays under them. Never beyond its home.
 * @param {{ range: Ends, offset: number, length: number }} axis
 * @param {{ middle: number, after: number, factor: number, home?: Ends }} fingers in pixels
 * @returns {Ends} */
export function pinched({ range: [start, end], offset, length }, { middle, after, factor, home }) {
  const perPixel = (end - start) / length
  const held = start + (middle - offset) * perPixel
  const from = held - ((after - offset) * perPixel) / factor
  /** @type {Ends} */
  const ends = [from, from + (end - start) / factor]
  if (!home) return ends
  const [low, high] = [Math.min(...home), Math.max(...home)]
  const within = (/** @type {number} */ value) => Math.min(high, Math.max(low, value))
  return [within(ends[0]), within(ends[1])]
}

/** Two fingers: their middle and their distance.
 * @param {TouchList} touches
 * @param {DOMRect} box */
function spread([a, b], box) {
  const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)
  return {
    x: (a.clientX + b.clientX) / 2 - box.x,
    y: (a.clientY + b.clientY) / 2 - box.y,
    apart: Math.max(CLOSEST, apart),
  }
}

/** Have fingers scroll and pinch; a mouse does what it did.
 * @param {GraphElement} graph
 * @param {import("./zoom.js").Zoom} zoom
 * @param {(id: string) => PlacedAxis} axisOf */
export function heedFingers(graph, zoom, axisOf) {
  /** @type {{ x: number, y: number, apart: number, axes: [string, PlacedAxis][] } | null} */
  let start = null
  /** @type {Layout | null} */
  let next = null
  let isDrawing = false

  const draw = async () => {
    if (isDrawing) return
    isDrawing = true
    while (next) {
      const change = next
      next = null
      await zoom.relayout(change)
      await new Promise(requestAnimationFrame)
    }
    isDrawing = false
  }

  const onStart = (/** @type {TouchEvent} */ event) => {
    const subplot = subplotUnder(event.target)
    if (!subplot) return
    event.stopPropagation() // Plotly hears of a tap as of a click, and of nothing else
    if (event.touches.length !== 2) return
    event.preventDefault()
    const axes = subplot.filter((id) => isMovable(graph, id))
    start = {
      ...spread(event.touches, graph.getBoundingClientRect()),
      axes: axes.map((id) => [id, { ...axisOf(id) }]),
    }
  }
  const onMove = (/** @type {TouchEvent} */ event) => {
    if (!start || event.touches.length !== 2) return
    event.preventDefault()
    const now = spread(event.touches, graph.getBoundingClientRect())
    const factor = now.apart / start.apart
    next = {}
    for (const [id, axis] of start.axes) {
      const name = axisName(id)
      const home = zoom.home[name]
      if (id.startsWith("x")) {
        const places = { middle: start.x, after: now.x, factor, home }
        next[`${name}.range`] = pinched(axis, places)
      } else {
        // From the top down, as pixels count.
        const [low, high] = axis.range
        const places = { middle: start.y, after: now.y, factor, home }
        const [top, bottom] = pinched({ ...axis, range: [high, low] }, places)
        next[`${name}.range`] = [bottom, top]
      }
    }
    draw()
  }
  const onEnd = () => {
    start = null
  }
  graph.addEventListener("touchstart", onStart, { capture: true, passive: false })
  graph.addEventListener("touchmove", onMove, { capture: true, passive: false })
  graph.addEventListener("touchend", onEnd, { capture: true })
  graph.addEventListener("touchcancel", onEnd, { capture: true })
}
