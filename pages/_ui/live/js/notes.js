// What is written under a chart and follows its frames. Made here and not by Streamlit, which takes
// 15 ms a frame for a table in Markdown.

export const CSS = `
.live-plot-notes { color: var(--st-text-color); font: 1rem/1.6 var(--st-font);
  display: grid; gap: .75rem; margin-top: .25rem; contain: layout style }
.live-plot-notes p { margin: 0 }
.live-plot-notes .aside { font-size: .875rem; color: color-mix(in srgb, currentColor 72%, transparent) }
.live-plot-notes code { color: var(--st-code-text-color); background: var(--st-code-background-color);
  font: .8125em var(--st-code-font); padding: .1em .3em; border-radius: .25rem }
.live-plot-notes div { overflow-x: auto }
.live-plot-notes table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
.live-plot-notes :is(th, td) { border: 1px solid var(--st-border-color); padding: .25rem .75rem;
  text-align: left; font-weight: inherit; white-space: nowrap }
.live-plot-notes th { font-weight: 600 }
.live-plot-notes .number { text-align: right }
`

const MARKS = /:(\w+)\[((?:[^[\]]|\[[^[\]]*\])*)\]|\*\*(.+?)\*\*|`([^`]*)`/

// `:blue[words]`, `**bold**` and `` `code` ``, as in Streamlit's Markdown; all else is text.
function write(element, text) {
  let rest = text
  const nodes = []
  for (let found; (found = MARKS.exec(rest)); rest = rest.slice(found.index + found[0].length)) {
    const [, colour, tinted, bold, code] = found
    const kind = tinted !== undefined ? "span" : bold !== undefined ? "strong" : "code"
    const node = document.createElement(kind)
    if (kind === "span") node.style.color = `var(--st-${colour}-text-color)`
    if (kind === "code") node.textContent = code
    else write(node, tinted ?? bold)
    nodes.push(rest.slice(0, found.index), node)
  }
  element.replaceChildren(...nodes, rest)
}

const make = (kind, parent) => parent.appendChild(document.createElement(kind))

export class Notes {
  constructor(root) {
    this.root = make("div", root)
    this.root.className = "live-plot-notes"
    // A table that must be scrolled can be, by keyboard as well.
    this.resizing = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
        else target.removeAttribute("tabindex")
      }
    })
  }

  destroy() {
    this.resizing.disconnect()
  }

  // notes: see notes.py. Only what differs from the frame before is written.
  show(notes) {
    const shape = JSON.stringify(notes.map(({ kind, rows }) => [kind, rows?.length, rows?.[0]?.length]))
    if (shape !== this.shape) {
      this.shape = shape
      this.root.hidden = !notes.length
      this.build(notes)
    }
    const texts = notes.flatMap(({ text, heads, rows }) => (rows ? [...heads, ...rows.flat()] : [text]))
    texts.forEach((text, i) => {
      if (text !== this.texts[i]) write(this.places[i], text)
    })
    this.texts = texts
  }

  build(notes) {
    this.resizing.disconnect()
    this.root.replaceChildren()
    this.texts = []
    this.places = []
    for (const note of notes) {
      if (note.kind !== "table") {
        const line = make("p", this.root)
        line.className = note.kind
        this.places.push(line)
      } else this.places.push(...this.table(note))
    }
  }

  // The cells of a new table, row by row.
  table({ label, heads, rows, numbers }) {
    const box = make("div", this.root)
    const table = make("table", box)
    table.setAttribute("aria-label", label)
    box.setAttribute("role", "group")
    box.setAttribute("aria-label", label)
    this.resizing.observe(box)
    const [head, body] = [make("thead", table), make("tbody", table)]
    const fill = (row, cells, kind) => cells.map((_, i) => {
      const cell = make(kind ?? (i === 0 ? "th" : "td"), row)
      if (cell.tagName === "TH") cell.scope = kind ? "col" : "row"
      cell.classList.toggle("number", numbers.includes(i))
      return cell
    })
    return [...fill(make("tr", head), heads, "th"),
      ...rows.flatMap((cells) => fill(make("tr", body), cells))]
  }
}
