// Ranges of colours and axes that only grow or shrink while values move: the ticks stay where they
// are and get other numbers (Plotly's own drawing takes 20 ms and more). At rest Plotly chooses new
// ticks. The words of ticks and of an axis's title change in the same way.
import { put } from "./dress.js"
import { withMinusSigns } from "./numbers.js"
import { setRange, tickTexts, titleText } from "./plotly.js"

const COLOUR = /^(coloraxis\d*)\.c(min|max)$/
const AXIS = /^([xy]axis\d*)\.range$/
const VALUES = /^(coloraxis\d*)\.colorbar\.tickvals$/ // which grow with the colours
const TICKS = /^(coloraxis\d*)\.colorbar\.ticktext$/
const TITLE = /^([xy]axis\d*)\.title\.text$/
const MARKUP = /[<&$]/ // what Plotly doesn't write as it stands

const same = (/** @type {unknown} */ a, /** @type {unknown} */ b) =>
  JSON.stringify(a) === JSON.stringify(b)
const near = (/** @type {number} */ a, /** @type {number} */ b) =>
  Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b))
const isColour = (/** @type {string} */ name) => name.startsWith("coloraxis")

/** "coloraxis" or "yaxis4" → its start and end in a patch.
 * @param {Layout} patch
 * @param {string} name
 * @returns {Ends | undefined} */
function ends(patch, name) {
  return isColour(name) ? [patch[`${name}.cmin`], patch[`${name}.cmax`]] : patch[`${name}.range`]
}

/** How many times as large a range is as before, null if it isn't that alone.
 * @param {Ends | undefined} before
 * @param {Ends | undefined} after */
export function growth(before, after) {
  if (!before || !after) return null
  const [low, high] = before
  const factor = after[1] / high
  return factor > 0 && Number.isFinite(factor) && near(low * factor, after[0]) ? factor : null
}

/** Whether words can take the place of others without Plotly: as many, and plain ones.
 * @param {unknown} before
 * @param {unknown} after */
function replaces(before, after) {
  const [old, now] = [before, after].map((words) => [words].flat())
  const plain = (/** @type {unknown} */ word) =>
    typeof word === "string" && word !== "" && !MARKUP.test(word)
  return old.length === now.length && [...old, ...now].every(plain)
}

/** The axes and colour axes that differ between two patches; false if anything else does, or a
 * range has more than grown since Plotly drew it.
 * @param {Layout} shown
 * @param {Layout} patch
 * @param {Layout} drawnFor
 * @returns {string[] | false} */
export function changedRanges(shown, patch, drawnFor) {
  /** @type {Set<string>} */
  const names = new Set()
  for (const path of Object.keys({ ...shown, ...patch })) {
    if (same(shown[path], patch[path])) continue
    const [, worded] = path.match(TICKS) ?? path.match(TITLE) ?? []
    if (worded && replaces(shown[path], patch[path])) {
      names.add(worded)
      continue
    }
    const [, name] = path.match(COLOUR) ?? path.match(AXIS) ?? path.match(VALUES) ?? []
    if (!name || growth(ends(drawnFor, name), ends(patch, name)) === null) return false
    names.add(name)
  }
  return [...names]
}

/** A tick's number in a range so many times as large, to three digits.
 * @param {number} value
 * @param {number} factor */
export const tick = (value, factor) =>
  withMinusSigns(String(Number((value * factor).toPrecision(3))))

export class Ranges {
  /** What Plotly has drawn its own ticks for, and what is shown now.
   * @type {Layout} */
  drawnFor = {}
  /** @type {Layout} */
  shown = {}
  /** Axis → the texts of its ticks and their numbers as drawn.
   * @type {Map<string, [text: Element, value: number][]>} */
  labels = new Map()

  /** @param {GraphElement} graph */
  constructor(graph) {
    this.graph = graph
  }

  // Plotly has drawn its own ticks for this patch.
  drawn(patch = this.shown) {
    this.drawnFor = this.shown = patch
    this.labels = new Map()
  }

  /** @param {Layout} patch */
  differs(patch) {
    return !same(patch, this.shown)
  }

  /** Show a patch. false: it takes Plotly, nothing has changed; else the names of the ranges that
   * have.
   * @param {Layout} patch
   * @param {object} zoomed by the names of axes */
  show(patch, zoomed) {
    const names = changedRanges(this.shown, patch, this.drawnFor)
    if (!names) return false
    for (const name of names) {
      // An axis that the reader has moved stays where it is.
      if (!(name in zoomed)) this.move(name, patch)
      this.reword(name, patch)
    }
    this.shown = patch
    return names
  }

  /** @param {string} name
   * @param {Layout} patch */
  move(name, patch) {
    const range = /** @type {Ends} */ (ends(patch, name))
    const { layout } = this.graph
    if (isColour(name)) {
      put(layout, `${name}.cmin`, range[0])
      put(layout, `${name}.cmax`, range[1])
    } else put(layout, `${name}.range`, [...range])
    if (!setRange(this.graph, name, range)) return
    /** @type {string[] | undefined} */
    const texts = patch[`${name}.colorbar.ticktext`]
    if (texts)
      for (const [i, text] of tickTexts(this.graph, name).entries()) text.textContent = texts[i]
    else this.relabel(name, /** @type {number} */ (growth(ends(this.drawnFor, name), range)))
  }

  /** @param {string} name
   * @param {Layout} patch */
  reword(name, patch) {
    const { layout } = this.graph
    const [ticks, title] = [`${name}.colorbar.ticktext`, `${name}.title.text`]
    if (!same(patch[ticks], this.shown[ticks])) {
      put(layout, ticks, patch[ticks])
      for (const [i, text] of tickTexts(this.graph, name).entries())
        text.textContent = patch[ticks][i]
    }
    if (!same(patch[title], this.shown[title])) {
      put(layout, title, patch[title])
      const text = titleText(this.graph, name)
      if (text) text.textContent = patch[title]
    }
  }

  /** @param {string} name
   * @param {number} factor */
  relabel(name, factor) {
    const labels = this.labels.get(name) ?? tickTexts(this.graph, name).map(read)
    this.labels.set(name, labels)
    for (const [text, value] of labels) text.textContent = tick(value, factor)
  }
}

/** @param {Element} text
 * @returns {[text: Element, value: number]} */
const read = (text) => [text, Number(text.textContent?.replaceAll("−", "-"))]
