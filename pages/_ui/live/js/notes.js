// What is written under a chart and follows its frames. Made here and not by Streamlit, which takes
// 15 ms a frame for a table in Markdown.
import { textColour } from "./streamlit.js"

const MARKS = /:(\w+)\[((?:[^[\]]|\[[^[\]]*\])*)\]|\*\*(.+?)\*\*|`([^`]*)`/g

const TAGS = { code: "code", bold: "strong", colour: "span" }

/** A piece of text with its mark, as in Streamlit's Markdown.
 * @typedef {{ kind: "text", text: string } | { kind: "code", text: string }
 *   | { kind: "bold", inner: string }
 *   | { kind: "colour", colour: string, inner: string }} Piece */

/** `:blue[words]`, `**bold**` and `` `code` ``; all else is text.
 * @param {string} text
 * @returns {Piece[]} */
export function pieces(text) {
  /** @type {Piece[]} */
  const out = []
  let end = 0
  for (const match of text.matchAll(MARKS)) {
    const [whole, colour, tinted, bold, code] = match
    out.push({ kind: "text", text: text.slice(end, match.index) })
    if (tinted !== undefined) out.push({ kind: "colour", colour, inner: tinted })
    else if (bold !== undefined) out.push({ kind: "bold", inner: bold })
    else out.push({ kind: "code", text: code })
    end = match.index + whole.length
  }
  out.push({ kind: "text", text: text.slice(end) })
  return out
}

/** @param {Element} element
 * @param {string} text */
export function write(element, text) {
  const nodes = pieces(text).map((piece) => {
    if (piece.kind === "text") return piece.text
    const node = document.createElement(TAGS[piece.kind])
    if (piece.kind === "code") node.textContent = piece.text
    else write(node, piece.inner)
    if (piece.kind === "colour") node.style.color = textColour(piece.colour)
    return node
  })
  element.replaceChildren(...nodes)
}

/** @template {keyof HTMLElementTagNameMap} Kind
 * @param {Kind} kind
 * @param {Node} parent
 * @returns {HTMLElementTagNameMap[Kind]} */
const make = (kind, parent) => parent.appendChild(document.createElement(kind))

export class Notes {
  shape = ""
  /** @type {string[]} */
  texts = []
  /** @type {Element[]} */
  places = []

  /** @param {Node} root */
  constructor(root) {
    this.root = make("div", root)
    this.root.className = "live-plot-notes"
    // A table that must be scrolled can be, by keyboard as well.
    this.resizing = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0")
        else target.removeAttribute("tabindex")
      }
    })
  }

  destroy() {
    this.resizing.disconnect()
  }

  /** Only what differs from the frame before is written.
   * @param {Note[]} notes */
  show(notes) {
    const shape = JSON.stringify(
      notes.map((note) =>
        note.kind === "table" ? [note.kind, note.rows.length, note.rows[0]?.length] : [note.kind],
      ),
    )
    if (shape !== this.shape) {
      this.shape = shape
      this.root.hidden = !notes.length
      this.build(notes)
    }
    const texts = notes.flatMap((note) =>
      note.kind === "table" ? [...note.heads, ...note.rows.flat()] : [note.text],
    )
    texts.forEach((text, i) => {
      if (text !== this.texts[i]) write(this.places[i], text)
    })
    this.texts = texts
  }

  /** @param {Note[]} notes */
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

  /** The cells of a new table, row by row.
   * @param {TableNote} note
   * @returns {Element[]} */
  table({ label, heads, rows, numbers }) {
    const box = make("div", this.root)
    const table = make("table", box)
    table.setAttribute("aria-label", label)
    box.setAttribute("role", "group")
    box.setAttribute("aria-label", label)
    this.resizing.observe(box)
    const [head, body] = [make("thead", table), make("tbody", table)]
    const top = make("tr", head)
    const cells = heads.map((_, i) => place(top, "th", "col", numbers.includes(i)))
    for (const row of rows) {
      const line = make("tr", body)
      row.forEach((_, i) => {
        cells.push(place(line, i === 0 ? "th" : "td", "row", numbers.includes(i)))
      })
    }
    return cells
  }
}

/** An empty cell of a table; scope: what it heads, if it does.
 * @param {Element} row
 * @param {"th" | "td"} kind
 * @param {string} scope
 * @param {boolean} isNumber
 * @returns {Element} */
function place(row, kind, scope, isNumber) {
  const cell = make(kind, row)
  if (kind === "th") cell.scope = scope
  cell.classList.toggle("number", isNumber)
  return cell
}
