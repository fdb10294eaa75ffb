// What a reader does in a chart that Plotly has drawn: hover, click, zoom.
import { Cursor } from "./cursor.js"
import { axesOf, drawn, watchLabels } from "./plotly.js"
import { heedFingers } from "./touch.js"
import { steps } from "./whole.js"

/** From now on.
 * @param {import("./plot.js").Chart} chart */
export function heed(chart) {
  const { graph } = chart
  watchLabels(graph)
  new Cursor(chart)
  heedFingers(graph, chart.zoom, (id) => drawn(graph).axis(id))
  graph.on("plotly_afterplot", () => {
    chart.heatmaps.place(drawn(graph))
    chart.lens?.show()
  })
  graph.on("plotly_hover", ({ points: [point] }) => see(chart, point, false))
  graph.on("plotly_unhover", () => chart.lens?.leave())
  graph.on("plotly_relayouting", () => {
    chart.heatmaps.place(drawn(graph))
    chart.ranges.drawn()
  })
  graph.on("plotly_doubleclick", () => chart.zoom.reset())
  graph.on("plotly_relayout", (change) => {
    chart.ranges.drawn()
    const moved = Object.keys(change).some((path) => /^[xy]axis\d*\.(auto)?range/.test(path))
    if (!moved) return
    if (!chart.busy) chart.zoom.moved(drawn(graph).layout)
    keepWhole(chart)
  })
  graph.on("plotly_click", ({ points: [point] }) => {
    see(chart, point, true)
    const { pointNumber, curveNumber, x, y } = point
    const [row, column] = Array.isArray(pointNumber) ? pointNumber : [null, pointNumber]
    const trace = chart.names[curveNumber]
    chart.component.setTriggerValue("click", { trace, x, y, row, column })
  })
}

/** The lens goes to a cell, unless Plotly holds stand-ins.
 * @param {import("./plot.js").Chart} chart
 * @param {{ pointNumber: unknown, curveNumber: number }} point
 * @param {boolean} pin */
function see(chart, { pointNumber, curveNumber }, pin) {
  const name = chart.names[curveNumber]
  if (!chart.lens || !chart.frame.mixes[name] || !Array.isArray(pointNumber)) return
  if (chart.root.dataset.state === "rest")
    chart.lens.point(name, pointNumber[0], pointNumber[1], pin)
}

/** Ticks between two positions, after a zoom, are none.
 * @param {import("./plot.js").Chart} chart */
function keepWhole(chart) {
  const { layout } = drawn(chart.graph)
  const ranges = Object.fromEntries(axesOf(layout).map((name) => [name, layout[name].range]))
  /** @type {Layout} */
  const change = {}
  for (const [name, step] of Object.entries(steps(chart.look.layout, ranges)))
    if (step !== (chart.graph.layout[name].dtick ?? null))
      Object.assign(change, { [`${name}.dtick`]: step, [`${name}.tickmode`]: null })
  if (Object.keys(change).length) chart.own(() => chart.plotly.relayout(chart.graph, change))
}
