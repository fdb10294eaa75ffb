// The cell that the reader points at: marked in all pictures that have it, and said in one line
// over the chart. See lens.py.
import { shapeOf } from "./mixing.js"
import { write } from "./notes.js"
import { withMinusSigns } from "./numbers.js"
import { page } from "./pace.js"
import { drawn } from "./plotly.js"

const REST = 250 // ms at a cell until the server is asked for its exact values
const LEAST = 6 // pixels along a side of a mark
const NONE = "—"

/** A cell: which group of pictures, which row of its first one.
 * @typedef {{ group: LensGroup, row: number, column: number }} Aim
 * @typedef {{ left: number, top: number, width: number, height: number }} Box */

/** A value in digits that can be read at a glance, with a true minus sign.
 * @param {number} value */
export function digits(value) {
  if (Number.isNaN(value)) return NONE
  const size = Math.abs(value)
  const text =
    value === 0 ? "0" : size < 0.001 || size >= 1e4 ? value.toPrecision(4) : value.toFixed(3)
  return withMinusSigns(text)
}

/** A template with what stands in its braces; "{name!}" is in brackets where it is negative.
 * @param {string} template
 * @param {(name: string) => string} read */
export const filled = (template, read) =>
  template.replace(/\{([^}]+?)(!?)\}/g, (_, name, guarded) => {
    const text = read(name)
    return guarded && text.startsWith("−") ? `(${text})` : text
  })

/** The value of Σ coefficient · array at a cell, and whether it is that very one.
 * @param {Terms} terms
 * @param {Map<string, Cells>} arrays
 * @param {number} row
 * @param {number} column
 * @param {number} snapshot */
export function valueAt(terms, arrays, row, column, snapshot) {
  let value = 0
  let exact = true
  for (const [name, coefficient] of terms) {
    const part = arrays.get(name)
    if (!part) {
      value += coefficient
      continue
    }
    const { frames, rows, cols, cells, offset, step } = part
    const at = Math.min(snapshot, frames - 1) * rows * cols + row * cols + column
    const rounded = cells instanceof Int16Array
    exact &&= !rounded
    value +=
      coefficient * (rounded ? (cells[at] === -32768 ? NaN : offset + step * cells[at]) : cells[at])
  }
  return { value, exact }
}

export class Lens {
  /** @type {Aim | null} */
  aim = null
  /** What was clicked last.
   * @type {Aim | null} */
  pinned = null
  /** @type {HTMLElement[]} */
  marks = []
  text = ""
  pin = "null"
  asked = ""
  /** @type {number | undefined} */
  asking

  /** @param {import("./plot.js").Chart} chart */
  constructor(chart) {
    this.chart = chart
    this.line = document.createElement("p")
    this.line.className = "live-plot-lens"
    chart.root.before(this.line)
    this.layer = chart.root.appendChild(document.createElement("div"))
    this.layer.className = "live-plot-marks"
  }

  destroy() {
    clearTimeout(this.asking)
    this.line.remove()
  }

  get lens() {
    return this.chart.frame?.lens ?? null
  }

  /** The cell of a heatmap, in its group.
   * @param {string} name
   * @param {number} row
   * @param {number} column
   * @returns {Aim | null} */
  find(name, row, column) {
    const group = this.lens?.groups.find(({ pictures }) => pictures.includes(name))
    if (!group) return null
    const { mixes, arrays } = this.chart.frame
    const { rows } = shapeOf(mixes[group.pictures[0]], arrays)
    return { group, row: row % rows, column }
  }

  /** @param {string} name
   * @param {number} row
   * @param {number} column
   * @param {boolean} pin */
  point(name, row, column, pin = false) {
    this.aim = this.find(name, row, column)
    if (pin) this.pinned = this.aim
    this.show()
  }

  // The pointer has gone: what was clicked last stays.
  leave() {
    this.aim = this.pinned
    this.show()
  }

  // Mark and say the cell as this frame has it.
  show() {
    const { lens } = this
    if (!lens) return
    const pin = JSON.stringify(lens.pin)
    if (pin !== this.pin) {
      this.pin = pin
      this.pinned = lens.pin && this.find(...lens.pin)
      this.aim ??= this.pinned
    }
    const aim = this.current()
    this.mark(aim)
    const text = aim ? this.words(aim) : lens.hint
    // A screen reader hears what is at rest.
    const live = page.held ? "off" : "polite"
    if (this.line.getAttribute("aria-live") !== live) this.line.setAttribute("aria-live", live)
    if (text === this.text) return
    this.text = text
    this.line.classList.toggle("hint", !aim)
    write(this.line, text)
  }

  /** The cell in this frame's groups, if it still has it.
   * @returns {Aim | null} */
  current() {
    const { aim } = this
    if (!aim) return null
    const { mixes, arrays } = this.chart.frame
    const group = this.lens?.groups.find(({ pictures }) => pictures[0] === aim.group.pictures[0])
    if (!group) return null
    const { rows, cols } = shapeOf(mixes[group.pictures[0]], arrays)
    return aim.row < rows && aim.column < cols ? { ...aim, group } : null
  }

  /** @param {Aim} aim */
  words({ group, row, column }) {
    const { frame, player } = this.chart
    const trace = this.chart.heatmaps.traceOf(group.pictures[0])
    const index = (/** @type {"across" | "up"} */ side, /** @type {number} */ cell) => {
      const axis = side === "across" ? "x" : "y"
      const shown =
        trace.meta?.[side]?.[cell] ??
        Math.round((trace[`${axis}0`] ?? 0) + cell * (trace[`d${axis}`] ?? 1))
      return String(group[side][shown] ?? shown)
    }
    const { exact } = this.lens ?? {}
    const known =
      exact && group.pictures.includes(exact.trace) && exact.row === row && exact.column === column
    let rounded = false
    const read = (/** @type {string} */ name) => {
      if (name === "across") return index("across", column)
      if (name === "up") return index("up", row)
      if (known && name in exact.values) return digits(exact.values[name])
      const { value, exact: isExact } = valueAt(
        group.values[name],
        frame.arrays,
        row,
        column,
        player.index,
      )
      rounded ||= !isExact
      return digits(value)
    }
    const text = filled(group.line, read)
    if (rounded) this.ask(group.pictures[0], row, column)
    return rounded ? text.replace(": ", ": ≈ ") : text
  }

  /** Have the server say the exact values, once the reader stays.
   * @param {string} trace
   * @param {number} row
   * @param {number} column */
  ask(trace, row, column) {
    clearTimeout(this.asking)
    this.asking = setTimeout(() => {
      if (page.held) return
      const { across, up } = this.chart.heatmaps.extentOf(trace)
      const { rows, cols } = shapeOf(this.chart.frame.mixes[trace], this.chart.frame.arrays)
      const [x, y] = [middle(across, cols, column), middle(up, rows, row)]
      const asked = JSON.stringify([this.chart.frame.figure, this.chart.frame.needs, trace, x, y])
      if (asked === this.asked) return
      this.asked = asked
      this.chart.component.setStateValue("lens", { trace, x, y, row, column })
    }, REST)
  }

  /** @param {Aim | null} aim */
  mark(aim) {
    const boxes = aim ? this.boxes(aim) : []
    while (this.marks.length < boxes.length)
      this.marks.push(this.layer.appendChild(document.createElement("i")))
    for (const [i, mark] of this.marks.entries()) {
      const box = boxes[i]
      mark.hidden = !box
      if (!box) continue
      for (const side of /** @type {const} */ (["left", "top", "width", "height"]))
        mark.style[side] = `${box[side]}px`
    }
  }

  /** @param {Aim} aim
   * @returns {Box[]} */
  boxes({ group, row, column }) {
    const { graph, heatmaps, frame, plotly } = this.chart
    if (!plotly || !heatmaps.onCanvas) return []
    const { traces, axis } = drawn(graph)
    /** @type {Box[]} */
    const boxes = []
    const { rows } = shapeOf(frame.mixes[group.pictures[0]], frame.arrays)
    for (const name of group.pictures) {
      if (!frame.mixes[name]) continue
      const { xaxis, yaxis } = traces[this.chart.names.indexOf(name)]
      const { across, up } = heatmaps.extentOf(name)
      const shape = shapeOf(frame.mixes[name], frame.arrays)
      const x = stretch(axis(xaxis), across, shape.cols, column, false)
      for (let at = row; at < shape.rows; at += rows) {
        const y = stretch(axis(yaxis), up, shape.rows, at, true)
        if (x && y) boxes.push({ left: x[0], width: x[1], top: y[0], height: y[1] })
      }
    }
    const [across, up] = group.norms
    if (across) {
      const { across: extent } = heatmaps.extentOf(group.pictures[0])
      const { cols } = shapeOf(frame.mixes[group.pictures[0]], frame.arrays)
      const x = stretch(axis(across), extent, cols, column, false)
      const { offset, length } = axis(up)
      if (x) boxes.push({ left: x[0], width: x[1], top: offset, height: length })
    }
    return boxes
  }
}

/** The middle of a cell, on its axis.
 * @param {Ends} extent
 * @param {number} count
 * @param {number} cell */
const middle = ([start, end], count, cell) => start + ((cell + 0.5) * (end - start)) / count

/** Where a cell's mark begins in the chart and how long it is, in pixels; null outside its picture.
 * @param {PlacedAxis} axis
 * @param {Ends} extent of all cells, on the axis
 * @param {number} count
 * @param {number} cell
 * @param {boolean} upwards
 * @returns {[start: number, length: number] | null} */
export function stretch({ range, offset, length }, extent, count, cell, upwards) {
  const at = (/** @type {number} */ value) => {
    const share = (value - range[0]) / (range[1] - range[0])
    return offset + length * (upwards ? 1 - share : share)
  }
  const centre = at(middle(extent, count, cell))
  if (centre < offset - 0.5 || centre > offset + length + 0.5) return null
  const size = Math.max(Math.abs((at(extent[1]) - at(extent[0])) / count), LEAST)
  return [centre - size / 2, size]
}
