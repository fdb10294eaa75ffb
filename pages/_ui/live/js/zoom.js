// Where the reader has gone in a chart: zoomed axes, what the server hears of them, and the way home.
import { awayFrom, overlap } from "./axes.js"

const PAUSE = 250 // ms after the last change of an axis until the server hears of it

export class Zoom {
  // button: takes the reader home; tell({ axis: range }): the server hears of it; relayout(change).
  constructor(button, tell, relayout) {
    Object.assign(this, { button, tell, relayout, home: {}, axes: {} })
    button.onclick = () => this.reset()
  }

  // Before each drawing: `home` is the range of each axis in the figure. What to draw instead.
  place(layout, names) {
    this.home = {}
    for (const axis of names) {
      const range = layout[axis]?.range
      this.home[axis] = range && [...range]
      if (!this.axes[axis]) continue
      if (range && !overlap(this.axes[axis], range)) delete this.axes[axis]
      else layout[axis] = { ...layout[axis], range: [...this.axes[axis]], autorange: false }
    }
  }

  // The reader has moved an axis.
  moved(layout) {
    this.axes = awayFrom(this.home, layout)
    this.offerReset()
    clearTimeout(this.telling)
    this.telling = setTimeout(() => {
      const zoom = JSON.stringify(this.axes)
      if (zoom === (this.told ?? "{}")) return
      this.told = zoom
      this.tell({ ...this.axes })
    }, PAUSE)
  }

  // The zoom that Python asked for; Python hears of it as if the reader had zoomed.
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

  // Move the zoomed axes, and those that shall be, to these ranges; undefined is "as the data are".
  show(ranges) {
    const change = {}
    for (const [axis, range] of Object.entries(ranges)) {
      if (!this.axes[axis] && range === this.home[axis]) continue
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
