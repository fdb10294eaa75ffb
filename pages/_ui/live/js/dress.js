// How every chart looks: Streamlit's theme, transparent backgrounds, a short mode bar.
import { enlarge, isLarge } from "./large.js"
import { FORMATS, save } from "./picture.js"
import { axisName } from "./plotly.js"
import { filling, stretched } from "./room.js"
import { fillIn, isDark, theme } from "./streamlit.js"

/** A figure in the page's colours, and the chart's configuration.
 * @typedef {{ names: string[], traces: Trace[], layout: Layout, fills: boolean,
 *   config: (chart: Dressed) => object }} Look */

/** What the mode bar's buttons need of a chart.
 * @typedef {{ graph: GraphElement, plotly: PlotlyLibrary, zoom: { reset(): void } }} Dressed */

const CLEAR = "rgba(0,0,0,0)"

/** Nested objects merged, the second's values winning; lists are values.
 * @param {Layout} first
 * @param {Layout | undefined} second
 * @returns {Layout} */
export function merge(first, second) {
  const plain = (/** @type {any} */ value) =>
    value && typeof value === "object" && !Array.isArray(value)
  /** @type {Layout} */
  const out = { ...first }
  for (const [name, value] of Object.entries(second ?? {}))
    out[name] = plain(value) && plain(out[name]) ? merge(out[name], value) : value
  return out
}

/** put(layout, "annotations[0].text", "e")
 * @param {any} target
 * @param {string} path
 * @param {unknown} value */
export function put(target, path, value) {
  const steps = path.split(/[.[\]]+/).filter(Boolean)
  const last = /** @type {string} */ (steps.pop())
  for (const step of steps) target = target[step] ??= {}
  target[last] = value
}

/** A figure as it looks in an element: at its width, in its theme, as large as the page's type.
 * @param {Numbers} drawing the figure's packet
 * @param {Element} root
 * @param {number} width
 * @param {number | null} height instead of the figure's own
 * @param {() => void} again called if it should be read anew (see large.js)
 * @returns {Look} */
export function readFigure(drawing, root, width, height, again) {
  const read = (/** @type {string} */ name) => theme(root, name)[0]
  const text = fillIn(new TextDecoder().decode(drawing), read, isDark(root))
  /** @type {Figure} */
  const figure = JSON.parse(text)
  const { names, data: traces, narrow } = figure
  const least = figure.layout.meta?.least
  const isNarrow = width < figure.narrowWidth
  const fills = Boolean(least) && !isNarrow
  let layout = isNarrow ? merge(figure.layout, narrow) : figure.layout
  if (!(isNarrow && narrow.height)) layout.height = height ?? layout.height ?? 450
  if (isLarge()) layout = enlarge(layout, again)
  else if (fills) layout = stretched(layout, filling(root, layout.height, least, again))
  layout.width = width
  return { names, traces, fills, ...dress(layout, root, traces) }
}

/** The layout in the page's colours, and the chart's configuration.
 * @param {Layout} layout
 * @param {Element} root
 * @param {Trace[]} traces
 * @returns {{ layout: Layout, config: (chart: Dressed) => object }} */
function dress(layout, root, traces) {
  const [text, border, ground, family] = theme(root)
  const colorway = theme(root, "chart-categorical-colors")[0].split(",").filter(Boolean)
  const axis = { gridcolor: border, linecolor: border, zerolinecolor: border, tickcolor: border }
  const wall = { ...axis, backgroundcolor: CLEAR }
  const colours = {
    font: { color: text, family },
    xaxis: axis,
    yaxis: axis,
    scene: { xaxis: wall, yaxis: wall, zaxis: wall },
    hoverlabel: { bgcolor: ground, bordercolor: border, font: { color: text, family } },
    legend: { bgcolor: CLEAR },
    modebar: { bgcolor: CLEAR, color: border, activecolor: text },
  }
  /** @type {Layout} */
  const dressed = {
    uirevision: "live",
    ...layout,
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    template: merge({ layout: { colorway } }, merge(layout.template ?? {}, { layout: colours })),
  }
  // Grid lines would lie over the cells, which are under the whole chart.
  for (const { type, xaxis = "x", yaxis = "y" } of traces) {
    if (type !== "heatmap") continue
    for (const name of [xaxis, yaxis].map(axisName))
      dressed[name] = { showgrid: false, zeroline: false, ...dressed[name] }
  }
  const solid = traces.some(({ type }) =>
    /3d$|^(surface|cone|volume|isosurface|streamtube)$/.test(type),
  )
  return { layout: dressed, config: (chart) => configure(chart, solid) }
}

/** @param {Dressed} chart
 * @param {boolean} solid whether it has three dimensions */
function configure(chart, solid) {
  const { graph, plotly } = chart
  const reset = {
    name: "reset",
    title: "Reset axes",
    icon: plotly.Icons.home,
    click: () => chart.zoom.reset(),
  }
  // Fingers scroll and pinch (touch.js): they have no use for Plotly's modes.
  const drags = matchMedia("(any-pointer: fine)").matches ? ["zoom2d", "pan2d"] : []
  const pictures = FORMATS.map((format) => ({
    name: format,
    title: `Download as ${format.toUpperCase()}`,
    icon: format === "png" ? plotly.Icons.camera : plotly.Icons.disk,
    click: () => save(graph, plotly, format, graph),
  }))
  return {
    displaylogo: false,
    showTips: false,
    doubleClick: false, // the chart's own reset knows where home is
    modeBarButtons: [
      solid
        ? ["zoom3d", "orbitRotation", "resetCameraDefault3d", ...pictures]
        : [...drags, reset, ...pictures],
    ],
  }
}
