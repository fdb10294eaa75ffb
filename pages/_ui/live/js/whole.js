// Axes that count (positions, dimensions, steps) have ticks at whole numbers only, at any zoom.
import { axesOf } from "./plotly.js"

const FEW = 6 // ticks, where the figure doesn't say how many

/** What makes the ticks of axes whole at these ranges: for an axis of the format "d" that has no
 * ticks of its own, a step of 1 where Plotly would take less, else none.
 * @param {Layout} figure the layout as Python wrote it
 * @param {Record<string, Ends | undefined>} ranges by the names of axes
 * @returns {Record<string, 1 | null>} axis → step */
export function steps(figure, ranges) {
  /** @type {Record<string, 1 | null>} */
  const out = {}
  for (const name of axesOf(figure)) {
    const { tickformat, tickvals, dtick, nticks = FEW } = figure[name]
    const range = ranges[name]
    if (tickformat !== "d" || tickvals || dtick || !range) continue
    out[name] = Math.abs(range[1] - range[0]) < nticks ? 1 : null
  }
  return out
}
