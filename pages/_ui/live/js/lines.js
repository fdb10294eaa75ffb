// Plain lines, moved by rewriting the path that Plotly drew (its own update takes 20 ms).
import { axisName } from "./axes.js"

// Whether new values y can be drawn that way: a simple line whose values stay within its axis.
export function isTraceable(graph, index, y) {
  const trace = graph._fullData[index]
  if (trace.type !== "scatter" || trace.mode !== "lines" || trace.fill !== "none") return false
  if (trace.line.shape !== "linear" || trace.visible !== true) return false
  if (graph.calcdata[index]?.length !== y.length) return false
  const axis = graph._fullLayout[axisName(trace.yaxis)]
  if (!axis.autorange) return true
  const [low, high] = [...axis.range].sort((a, b) => a - b)
  return y.every((value) => !(axis.d2c(value) < low || axis.d2c(value) > high))
}

// The <path>s of a trace (a line with gaps has several), and where its points lie across.
export const pathsOf = (graph, index) =>
  ({ paths: [...graph.querySelectorAll(`.tracelive${index} path.js-line`)], places: [] })

function placesOf(curve, across, { x, x0 = 0, dx = 1 }, count) {
  const axis = [across.range, across._length, count].join()
  if (curve.axis !== axis) {
    curve.axis = axis
    curve.places = Array.from({ length: count },
      (_, i) => across.c2p(across.d2c(x ? x[i] : x0 + i * dx)).toFixed(2))
  }
  return curve.places
}

export function trace(graph, index, y, curve) {
  const { xaxis, yaxis, ...points } = graph._fullData[index]
  const across = graph._fullLayout[axisName(xaxis)]
  const up = graph._fullLayout[axisName(yaxis)]
  const places = placesOf(curve, across, points, y.length)
  let path = ""
  let pen = "M"
  for (let i = 0; i < y.length; i++) {
    const height = up.c2p(up.d2c(y[i]))
    if (!Number.isFinite(height)) { pen = "M"; continue }
    path += `${pen}${places[i]},${height.toFixed(2)}`
    pen = "L"
  }
  // The first path can hold all pieces.
  curve.paths.forEach((piece, i) => piece.setAttribute("d", (i === 0 && path) || "M0,0"))
}
