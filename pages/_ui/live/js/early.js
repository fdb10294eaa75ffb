// A chart before plotly.js is here (two seconds in a new browser): its cells where the axes will be.
import { axesOf, axisName } from "./axes.js"

// The axes and traces as Plotly will work them out, of a layout with all its margins, as far as
// painting cells needs them; null where there are none or only Plotly can tell.
export function foreseen(layout, traces, width) {
  const { height, margin } = layout
  const sides = ["l", "r", "t", "b"].map((side) => margin?.[side])
  if (!sides.every(Number.isFinite)) return null
  const [left, right, top, bottom] = sides.map(Math.round)
  const across = Math.round(width) - left - right
  const up = Math.round(height) - top - bottom
  const axes = {}
  for (const name of axesOf(layout)) {
    const { range, domain: [start, end] = [0, 1], automargin, scaleanchor } = layout[name]
    if (automargin || scaleanchor) return null
    axes[name] = name.startsWith("x")
      ? { range, _offset: left + start * across, _length: (end - start) * across }
      : { range, _offset: top + (1 - end) * up, _length: (end - start) * up }
  }
  const heatmaps = traces.filter(({ type }) => type === "heatmap")
  const isKnown = ({ xaxis = "x", yaxis = "y", coloraxis, ...own }) => {
    const { colorscale, cmin, cmax } = layout[coloraxis] ?? { ...own, cmin: own.zmin, cmax: own.zmax }
    const isPlaced = axes[axisName(xaxis)]?.range && axes[axisName(yaxis)]?.range
    return isPlaced && Array.isArray(colorscale) && cmin != null && cmax != null
  }
  if (!heatmaps.length || !heatmaps.every(isKnown)) return null
  const data = traces.map((trace) => ({ xaxis: "x", yaxis: "y", ...trace }))
  return { _fullLayout: { ...layout, ...axes }, _fullData: data }
}
