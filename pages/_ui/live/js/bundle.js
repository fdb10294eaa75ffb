// A button that draws charts as PNG and SVG and hands them to Python. See picture.py.
import { CSS, chartIn, render } from "./picture.js"

// { called: { png, svg } } of the charts that are here, as far as there is room.
async function draw({ charts, most }) {
  const drawn = {}
  let room = most
  for (const [called, selector] of Object.entries(charts)) {
    const graph = await chartIn(selector)
    if (!graph) continue
    drawn[called] = {}
    for (const format of ["png", "svg"]) {
      const text = await render(graph, window.Plotly, format, true)
      if (text.length > room) continue
      room -= text.length
      drawn[called][format] = text
    }
  }
  return drawn
}

export default ({ parentElement, data, setTriggerValue }) => {
  const root = parentElement.querySelector(".live-picture") ?? document.createElement("div")
  root.className = "live-picture"
  root.innerHTML = `<style>${CSS}</style><div><button></button></div>`
  const button = root.querySelector("button")
  button.textContent = data.label
  button.onclick = async () => {
    button.disabled = true
    button.textContent = "Drawing …"
    try {
      setTriggerValue("drawings", await draw(data))
    } finally {
      button.disabled = false
      button.textContent = data.label
    }
  }
  parentElement.append(root)
}
