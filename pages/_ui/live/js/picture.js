// A chart as a PNG or SVG file, as it is on the screen: from the mode bar, and from buttons.
import { theme } from "./packet.js"

const REST = 100 // ms between looks at a chart that still moves,
const LOOKS = 20 // at most so many

export const CSS = `
.live-picture { display: flex; flex-direction: column; gap: .5rem; color: var(--st-text-color);
  font: .875rem var(--st-font) }
.live-picture > div { display: flex; align-items: center; gap: .5rem }
.live-picture span { flex: 1 }
.live-picture button { flex: 1; min-height: 2.5rem; padding: 0 .75rem; font: .875rem var(--st-font);
  cursor: pointer; color: inherit; background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius) }
.live-picture button:disabled { cursor: progress; color: var(--st-gray-text-color, inherit) }
.live-picture button:focus-visible { outline: 2px solid var(--st-primary-color) }
`

// The chart that is in the element of a selector, once it has come to rest; null where there is none.
export async function chartIn(selector) {
  const graph = document.querySelector(`${selector} .js-plotly-plot`)
  const { dataset } = graph?.closest(".live-plot") ?? {}
  for (let look = 0; dataset?.state === "moving" && look < LOOKS; look++)
    await new Promise((resolve) => setTimeout(resolve, REST))
  return graph
}

// Plotly draws the chart anew for the file, with its true cells instead of the canvases. The result
// is a data: URL, or with `bare` the SVG's text and the PNG in base64.
export function render(graph, plotly, format, bare = false) {
  const { data, layout } = graph
  const { width, height } = graph._fullLayout
  const [ground] = theme(graph, "--st-background-color")
  const options = { format, width, height, scale: format === "png" ? 2 : 1, imageDataOnly: bare }
  return plotly.toImage({ data, layout: { ...layout, paper_bgcolor: ground } }, options)
}

// Plotly's own download clicks a link at the end of the page, which closes the popover that asked
// for it; this link is in `place`.
export async function save(graph, plotly, format, place, name = "chart") {
  const href = await render(graph, plotly, format)
  const link = Object.assign(document.createElement("a"), { href, download: `${name}.${format}` })
  place.append(link)
  link.click()
  link.remove()
}

export default ({ parentElement, data }) => {
  const root = parentElement.querySelector(".live-picture") ?? document.createElement("div")
  root.className = "live-picture"
  root.innerHTML = `<style>${CSS}</style>`
  for (const { label, file, chart } of data) {
    const row = root.appendChild(document.createElement("div"))
    if (label) row.appendChild(document.createElement("span")).textContent = label
    for (const format of ["png", "svg"]) {
      const button = row.appendChild(document.createElement("button"))
      button.textContent = format.toUpperCase()
      if (label) button.ariaLabel = `${button.textContent} of ${label}`
      button.onclick = async () => {
        const graph = await chartIn(chart)
        if (graph) save(graph, window.Plotly, format, root, file)
      }
    }
  }
  parentElement.append(root)
}
