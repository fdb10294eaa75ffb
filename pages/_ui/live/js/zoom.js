// Where the reader has gone in a chart: zoomed axes, what the server hears of it, the way home.
import { axesOf } from "./plotly.js"

const PAUSE = 250 // ms after the last change of an axis until the server hears of it

/** Axis → its range.
 * @typedef {Record<string, Ends>} Ranges
 * Axis → its range in the figure, undefined for one that follows its data.
 * @typedef {Record<string, Ends | undefined>} Home */

/** @param {Ends} a
 * @param {Ends} b */
export function overlap(a, b) {
  const low = Math.max(Math.min(...a), Math.min(...b))
  return low < Math.min(Math.max(...a), Math.max(...b))
}

/** Which axes are elsewhere than at home.
 * @param {Home} home
 * @param {Layout} layout
 * @returns {Ranges} */
export function awayFrom(home, layout) {
  /** @type {Ranges} */
  const away = {}
  for (const axis of axesOf(layout)) {
    const { range, autorange } = layout[axis]
    const start = home[axis]
    const same = start
      ? start.every((end, i) => Math.abs(end - range[i]) < 1e-9 * Math.abs(start[1] - start[0]))
      : autorange
    if (!same) away[axis] = [range[0], range[1]]
  }
  return away
}

export class Zoom {
  /** @type {Home} */
  home = {}
  /** Axis → the steps between its ticks, where the figure says so.
   * @type {Record<string, unknown>} */
  dticks = {}
  /** @type {Ranges} */
  axes = {}
  /** What the server has heard. */
  told = "{}"
  /** @type {number | undefined} */
  telling

  /** @param {HTMLElement} button takes the reader home
   * @param {(zoom: Ranges) => void} tell the server hears of it
   * @param {(change: Layout) => unknown} relayout */
  constructor(button, tell, relayout) {
    this.button = button
    this.tell = tell
    this.relayout = relayout
    button.onclick = () => this.reset()
  }

  /** Before each drawing: home is what the layout says. Have it go where the reader is instead.
   * @param {Layout} layout
   * @param {string[]} names all axes, also those that the layout doesn't have */
  place(layout, names) {
    this.home = {}
    this.dticks = {}
    for (const axis of names) {
      this.dticks[axis] = layout[axis]?.dtick
      /** @type {Ends | undefined} */
      const range = layout[axis]?.range
      this.home[axis] = range && [range[0], range[1]]
      if (!this.axes[axis]) continue
      if (range && !overlap(this.axes[axis], range)) delete this.axes[axis]
      else layout[axis] = { ...layout[axis], range: [...this.axes[axis]], autorange: false }
    }
  }

  /** The reader has moved an axis.
   * @param {Layout} layout as Plotly has it now */
  moved(layout) {
    this.axes = awayFrom(this.home, layout)
    this.offerReset()
    clearTimeout(this.telling)
    this.telling = setTimeout(() => {
      const zoom = JSON.stringify(this.axes)
      if (zoom === this.told) return
      this.told = zoom
      this.tell({ ...this.axes })
    }, PAUSE)
  }

  /** The zoom that Python asked for; Python hears of it as if the reader had zoomed.
   * @param {Ranges} zoom
   * @param {boolean} isDrawn */
  goTo(zoom, isDrawn) {
    if (isDrawn) this.show({ ...this.home, ...zoom })
    else if (Object.keys(zoom).length) {
      this.told = JSON.stringify(zoom)
      this.tell(zoom)
    }
    this.axes = { ...zoom } // a full draw of the same frame keeps to it
  }

  reset() {
    this.show(this.home)
  }

  /** Move the zoomed axes, and those that are to be, to these ranges.
   * @param {Home} ranges */
  show(ranges) {
    /** @type {Layout} */
    const change = {}
    for (const [axis, range] of Object.entries(ranges)) {
      if (!this.axes[axis] && range === this.home[axis]) continue
      // Steps of a narrow window would be thousands in a wide one.
      change[`${axis}.dtick`] = this.dticks[axis] ?? null
      change[`${axis}.tickmode`] = null // as the figure's steps or values have it
      if (range) change[`${axis}.range`] = [...range]
      else change[`${axis}.autorange`] = true
    }
    if (Object.keys(change).length) this.relayout(change)
  }

  offerReset() {
    this.button.hidden = !Object.keys(this.axes).length
  }

  stop() {
    clearTimeout(this.telling)
  }
}
