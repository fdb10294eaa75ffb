// A chart as a PNG or SVG file, as it is on the screen: from the mode bar, from buttons, and from
// one that hands all charts to Python. See picture.py.
import CSS from "./picture.css"
import { graphIn, sizeOf } from "./plotly.js"
import { theme } from "./streamlit.js"

const REST = 100 // ms between looks at a chart that still moves,
const LOOKS = 20 // at most so many
export const FORMATS = /** @type {const} */ (["png", "svg"])

/** @typedef {typeof FORMATS[number]} Format
 * @typedef {{ label: string, file: string, chart: string }[]} ButtonRows
 * @typedef {{ label: string, charts: Record<string, string>, most: number }} BundleData */

/** The chart in the element of a selector, once it has come to rest; null where there is none.
 * @param {string} selector */
async function chartIn(selector) {
  const graph = graphIn(selector)
  /** @type {HTMLElement | null | undefined} */
  const chart = graph?.closest(".live-plot")
  for (let look = 0; chart?.dataset.state === "moving" && look < LOOKS; look++)
    await new Promise((resolve) => setTimeout(resolve, REST))
  return graph
}

/** Plotly draws the chart anew for the file, with its true cells instead of the canvases.
 * @param {GraphElement} graph
 * @param {PlotlyLibrary} plotly
 * @param {Format} format
 * @param {boolean} bare the SVG's text and the PNG in base64, instead of a data: URL */
function render(graph, plotly, format, bare = false) {
  const { data, layout } = graph
  const { width, height } = sizeOf(graph)
  const [ground] = theme(graph, "background-color")
  const options = { format, width, height, scale: format === "png" ? 2 : 1, imageDataOnly: bare }
  return plotly.toImage({ data, layout: { ...layout, paper_bgcolor: ground } }, options)
}

/** Plotly's own download clicks a link at the end of the page, which closes the popover that asked
 * for it; this link is in `place`.
 * @param {GraphElement} graph
 * @param {PlotlyLibrary} plotly
 * @param {Format} format
 * @param {Element} place
 * @param {string} name */
export async function save(graph, plotly, format, place, name = "chart") {
  const href = await render(graph, plotly, format)
  const link = Object.assign(document.createElement("a"), { href, download: `${name}.${format}` })
  place.append(link)
  link.click()
  link.remove()
}

/** The charts that are here, as far as there is room.
 * @param {BundleData} data */
async function drawAll({ charts, most }) {
  /** @type {Record<string, Partial<Record<Format, string>>>} */
  const drawn = {}
  let room = most
  for (const [name, selector] of Object.entries(charts)) {
    const graph = await chartIn(selector)
    if (!graph || !window.Plotly) continue
    drawn[name] = {}
    for (const format of FORMATS) {
      const text = await render(graph, window.Plotly, format, true)
      if (text.length > room) continue
      room -= text.length
      drawn[name][format] = text
    }
  }
  return drawn
}

/** The element for this component's buttons, empty.
 * @param {HTMLElement | ShadowRoot} parent */
function emptied(parent) {
  const root = parent.querySelector(".live-picture") ?? document.createElement("div")
  root.className = "live-picture"
  root.innerHTML = `<style>${CSS}</style>`
  parent.append(root)
  return root
}

/** A button that draws charts as PNG and SVG and hands them to Python.
 * @param {Component<BundleData>} component */
export function bundle({ parentElement, data, setTriggerValue }) {
  const row = emptied(parentElement).appendChild(document.createElement("div"))
  const button = row.appendChild(document.createElement("button"))
  button.textContent = data.label
  button.onclick = async () => {
    button.disabled = true
    button.textContent = "Drawing …"
    try {
      setTriggerValue("drawings", await drawAll(data))
    } finally {
      button.disabled = false
      button.textContent = data.label
    }
  }
}

/** Buttons that save each chart.
 * @param {Component<ButtonRows>} component */
export function buttons({ parentElement, data }) {
  const root = emptied(parentElement)
  for (const { label, file, chart } of data) {
    const row = root.appendChild(document.createElement("div"))
    if (label) row.appendChild(document.createElement("span")).textContent = label
    for (const format of FORMATS) {
      const button = row.appendChild(document.createElement("button"))
      button.textContent = format.toUpperCase()
      if (label) button.ariaLabel = `${button.textContent} of ${label}`
      button.onclick = async () => {
        const graph = await chartIn(chart)
        if (graph && window.Plotly) save(graph, window.Plotly, format, root, file)
      }
    }
  }
}
