// A chart as a PNG or SVG file, as it is on the screen: from the mode bar, and from buttons.
import { theme } from "./packet.js"

const CSS = `
.live-picture { display: flex; gap: .5rem }
.live-picture button { flex: 1; min-height: 2.5rem; padding: 0 .75rem; font: inherit; cursor: pointer;
  color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius) }
.live-picture button:focus-visible { outline: 2px solid var(--st-primary-color) }
`

// Plotly draws the chart anew for the file, with its true cells instead of the canvases. Its own
// download clicks a link at the end of the page, which closes the popover that asked for it; this
// link is in `place`.
export async function save(graph, plotly, format, place, name = "chart") {
  const { data, layout } = graph
  const { width, height } = graph._fullLayout
  const [ground] = theme(graph, "--st-background-color")
  const options = { format, width, height, scale: format === "png" ? 2 : 1 }
  const href = await plotly.toImage({ data, layout: { ...layout, paper_bgcolor: ground } }, options)
  const link = Object.assign(document.createElement("a"), { href, download: `${name}.${format}` })
  place.append(link)
  link.click()
  link.remove()
}

export default ({ parentElement, data }) => {
  const root = parentElement.querySelector(".live-picture") ?? document.createElement("div")
  root.className = "live-picture"
  root.innerHTML = `<style>${CSS}</style>`
  for (const format of ["png", "svg"]) {
    const button = document.createElement("button")
    button.textContent = format.toUpperCase()
    button.onclick = () => {
      const graph = document.querySelector(`${data.chart} .js-plotly-plot`)
      if (graph) save(graph, window.Plotly, format, root, data.name)
    }
    root.append(button)
  }
  parentElement.append(root)
}
