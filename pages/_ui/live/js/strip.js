// A strip of cells of a few kinds, and a button for each kind under it. See strip.py.

import { keepOpaque } from "./streamlit.js"
import CSS from "./strip.css"

/** @param {Component<StripData>} component */
export default ({ parentElement, data, setTriggerValue }) => {
  const box = document.createElement("div")
  box.className = "live"
  const { kinds } = data
  const row = box.appendChild(document.createElement("div"))
  row.className = "strip"
  row.ariaHidden = "true" // the buttons say it all
  for (const [index, kind] of data.cells.entries()) {
    const cell = row.appendChild(swatch(kinds[kind], kind === data.shown))
    cell.textContent = String(index)
    cell.title = `layer ${index}: ${kinds[kind].words}`
    cell.addEventListener("click", () => setTriggerValue("pick", kind))
  }
  const list = box.appendChild(document.createElement("div"))
  list.className = "kinds"
  list.role = "group"
  list.ariaLabel = data.label
  for (const [index, kind] of kinds.entries()) {
    const button = list.appendChild(document.createElement("button"))
    button.type = "button"
    button.ariaPressed = String(index === data.shown)
    const words = document.createElement("span")
    words.textContent = kind.words
    button.append(swatch(kind, false), words)
    button.addEventListener("click", () => setTriggerValue("pick", index))
  }
  const style = Object.assign(document.createElement("style"), { textContent: CSS })
  const focused = pressed(parentElement)
  parentElement.replaceChildren(style, box)
  if (focused >= 0) box.querySelectorAll("button")[focused]?.focus()
  keepOpaque(box)
}

/** Which button has the focus, so that a new drawing keeps it; -1 for none.
 * @param {HTMLElement | ShadowRoot} root */
function pressed(root) {
  return [...root.querySelectorAll("button")].findIndex((button) => button.matches(":focus"))
}

/** @param {StripKind} kind
 * @param {boolean} shown */
function swatch(kind, shown) {
  const cell = document.createElement("span")
  cell.className = "cell"
  for (const look of kind.looks) cell.dataset[look] = ""
  if (shown) cell.dataset.shown = ""
  return cell
}
