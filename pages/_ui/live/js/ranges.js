// Ranges of colours and axes that only grow or shrink while values move: the ticks stay where they are
// and get other numbers (Plotly's own drawing takes 20 ms and more). At rest Plotly chooses new ticks.
import { put } from "./dress.js"

const COLOUR = /^(coloraxis\d*)\.c(min|max)$/
const AXIS = /^([xy]axis\d*)\.range$/

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)
const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b))

// "coloraxis" or "yaxis4" → its [start, end] in a patch.
function ends(patch, name) {
  return name.startsWith("c") ? [patch[`${name}.cmin`], patch[`${name}.cmax`]] : patch[`${name}.range`]
}

// How many times as large a range is as before, null if it isn't that alone.
function growth(before, after) {
  if (!before || !after) return null
  const [low, high] = before
  const factor = after[1] / high
  return factor > 0 && Number.isFinite(factor) && near(low * factor, after[0]) ? factor : null
}

export class Ranges {
  constructor(graph) {
    this.graph = graph
  }

  // Plotly has drawn its own ticks for this patch.
  drawn(patch = this.shown) {
    this.drawnFor = this.shown = patch
    this.labels = new Map()
  }

  differs(patch) {
    return !same(patch, this.shown)
  }

  // Show a patch. false: it takes Plotly, nothing has changed; else which ranges have, by their names.
  show(patch, zoomed) {
    const names = new Set()
    for (const path of Object.keys({ ...this.shown, ...patch })) {
      if (same(this.shown[path], patch[path])) continue
      const [, name] = path.match(COLOUR) ?? path.match(AXIS) ?? []
      if (!name || growth(ends(this.drawnFor, name), ends(patch, name)) === null) return false
      names.add(name)
    }
    for (const name of names) this.move(name, patch, name in zoomed)
    this.shown = patch
    return [...names]
  }

  move(name, patch, isZoomed) {
    const { _fullLayout, layout } = this.graph
    const [start, end] = ends(patch, name)
    if (isZoomed) return // it stays where the reader has gone
    if (name.startsWith("c")) {
      put(layout, `${name}.cmin`, start)
      put(layout, `${name}.cmax`, end)
      if (!_fullLayout[name]) return // no trace uses it
      Object.assign(_fullLayout[name], { cmin: start, cmax: end })
    } else {
      put(layout, `${name}.range`, [start, end])
      _fullLayout[name].range = [start, end]
      _fullLayout[name].setScale()
    }
    this.relabel(name, growth(ends(this.drawnFor, name), [start, end]))
  }

  relabel(name, factor) {
    if (!this.labels.has(name)) {
      const ticks = name.startsWith("c") ? `.cb${name} .cbaxis text` : `.${name.replace("axis", "")}tick text`
      this.labels.set(name, [...this.graph.querySelectorAll(ticks)]
        .map((text) => [text, Number(text.textContent.replace("−", "-"))]))
    }
    for (const [text, value] of this.labels.get(name)) {
      text.textContent = String(Number((value * factor).toPrecision(3))).replace("-", "−")
    }
  }
}
