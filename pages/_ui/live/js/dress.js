// How every chart looks: Streamlit's theme, transparent backgrounds, a short mode bar.
import { theme } from "./packet.js"
import { save } from "./picture.js"

export const CSS = `
.live-plot { position: relative; width: 100%; contain: layout style }
.live-plot-layer { position: absolute; inset: 0; pointer-events: none }
.live-plot-cells { position: absolute; overflow: hidden }
.live-plot-cells canvas { position: absolute; image-rendering: pixelated }
.live-plot-painted .heatmaplayer { visibility: hidden }
.live-plot-layer + div { position: relative }
.live-plot-player { display: flex; align-items: center; gap: .75rem; color: var(--st-text-color);
  font: .875rem var(--st-font) }
.live-plot-player[hidden] { display: none }
.live-plot-player input { flex: 1; height: 44px; accent-color: var(--st-primary-color) }
.live-plot-player button { min-height: 2.75rem; min-width: 5rem; font: inherit; cursor: pointer;
  color: inherit; background: none; border: 1px solid var(--st-border-color);
  border-radius: var(--st-button-radius) }
.live-plot > button { position: absolute; left: 0; top: 0; min-height: 2rem; padding: 0 .6rem;
  font: .8125rem var(--st-font); color: var(--st-text-color); cursor: pointer;
  background: var(--st-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-button-radius) }
.live-plot > button[hidden] { display: none }
.live-plot button:focus-visible, .live-plot-player input:focus-visible { outline: 2px solid var(--st-primary-color) }
`
const CLEAR = "rgba(0,0,0,0)"

// Nested objects merged, the second's values winning; lists are values.
export function merge(first, second) {
  const plain = (value) => value && typeof value === "object" && !Array.isArray(value)
  const out = { ...first }
  for (const [name, value] of Object.entries(second ?? {}))
    out[name] = plain(value) && plain(out[name]) ? merge(out[name], value) : value
  return out
}

// put(layout, "annotations[0].text", "e")
export function put(target, path, value) {
  const steps = path.split(/[.[\]]+/).filter(Boolean)
  const last = steps.pop()
  for (const step of steps) target = target[step] ??= {}
  target[last] = value
}

// The layout in the page's colours, and the chart's configuration.
export function dress(layout, root, traces) {
  const [text, border, ground, family] = theme(root)
  const colorway = theme(root, "--st-chart-categorical-colors")[0].split(",").filter(Boolean)
  const axis = { gridcolor: border, linecolor: border, zerolinecolor: border, tickcolor: border }
  const wall = { ...axis, backgroundcolor: CLEAR }
  const colours = {
    font: { color: text, family },
    xaxis: axis, yaxis: axis,
    scene: { xaxis: wall, yaxis: wall, zaxis: wall },
    hoverlabel: { bgcolor: ground, bordercolor: border, font: { color: text, family } },
    legend: { bgcolor: CLEAR },
    modebar: { bgcolor: CLEAR, color: border, activecolor: text },
  }
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
    for (const name of [`xaxis${xaxis.slice(1)}`, `yaxis${yaxis.slice(1)}`])
      dressed[name] = { showgrid: false, zeroline: false, ...dressed[name] }
  }
  // A finger scrolls the page; it can still choose zoom in the mode bar.
  if (matchMedia("(pointer: coarse)").matches) dressed.dragmode ??= false
  const solid = traces.some(({ type }) => /3d$|^(surface|cone|volume|isosurface|streamtube)$/.test(type))
  return { layout: dressed, config: (chart) => configure(chart, solid) }
}

function configure(chart, solid) {
  const { graph, plotly } = chart
  const reset = {
    name: "reset", title: "Reset axes", icon: plotly.Icons.home, click: () => chart.zoom.reset(),
  }
  const pictures = ["png", "svg"].map((format) => ({
    name: format, title: `Download as ${format.toUpperCase()}`,
    icon: format === "png" ? plotly.Icons.camera : plotly.Icons.disk,
    click: () => save(graph, plotly, format, graph),
  }))
  return {
    displaylogo: false,
    showTips: false,
    doubleClick: false, // the chart's own reset knows where home is
    modeBarButtons: [solid
      ? ["zoom3d", "orbitRotation", "resetCameraDefault3d", ...pictures]
      : ["zoom2d", "pan2d", reset, ...pictures]],
  }
}
