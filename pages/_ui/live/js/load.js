// plotly.js and the packed parts of charts, fetched when they are first needed.
import { buffers, header } from "./packet.js"

let library = null
let isLeft = false

// plotly.js, once per browser page.
export function loadPlotly(url) {
  library ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly)
    const script = Object.assign(document.createElement("script"), { src: location.origin + url })
    script.onload = () => resolve(window.Plotly)
    script.onerror = () => reject(new Error(`plotly.js not found at ${url}`))
    document.head.append(script)
  })
  return library
}

// A chart whose cells are on canvases needs no heatmap drawn by Plotly (100 ms each): it keeps the
// values, for hover, click and export. The trace module is only found through a chart that has one.
export function leaveCells({ _fullData }) {
  const heatmap = !isLeft && _fullData.find(({ type }) => type === "heatmap")?._module
  if (!heatmap) return
  isLeft = true
  const draw = heatmap.plot
  heatmap.plot = (graph, ...rest) => {
    if (!graph.parentElement?.classList.contains("live-plot-painted")) draw(graph, ...rest)
  }
}

// An array or a figure by its URL; the error says `missing` if the server doesn't have it.
export async function fetchPart(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw Object.assign(new Error(`${url}: ${answer.status}`), { missing: true })
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const head = header(bytes)
  return { ...head, cells: buffers(bytes, head)[0] }
}
