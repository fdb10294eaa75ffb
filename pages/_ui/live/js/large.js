// Large type on a projector: every text of a chart grows, and the room around it, as far as the
// window has room for the whole picture. See stage.js.
import { axisName } from "./plotly.js"
import { roomBelow, whenMoved } from "./room.js"

// What of its height a picture may be pressed to, else it is scrolled: as it is, and where only the
// lowest row needs words under it.
const LEAST = 0.75
const LEAST_WITHOUT_WORDS = 0.38
const PRESSED = 0.85 // where type must be less large, too,
const SMALLEST = 0.9 // of a chart's own type at least
const HEADING = 26 // pixels

// As much as the page's own type does.
const growthOfType = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16

export const isLarge = () => document.documentElement.hasAttribute("data-present")

const firstChart = () => document.querySelector(".live-plot")

/** How much of a height there is room for below the top of the page's first chart, at most 1.
 * @param {number} height
 * @param {number} least */
function fitting(height, least) {
  const fit = roomBelow(firstChart()) / height
  return fit < least || fit > 1 ? 1 : fit
}

/** The x axes above others of their column, and those of them whose words stand there as well.
 * @param {Layout} layout */
function upper(layout) {
  const axes = Object.entries(layout)
    .filter(([name]) => /^xaxis\d*$/.test(name))
    .map(([, axis]) => axis)
  const height = (/** @type {Layout} */ { anchor = "y" }) =>
    layout[axisName(anchor)]?.domain?.[0] ?? 0
  const over = (/** @type {string[]} */ ...same) =>
    axes.filter((axis) =>
      axes.some(
        (other) =>
          height(other) < height(axis) &&
          same.every((key) => JSON.stringify(axis[key]) === JSON.stringify(other[key])),
      ),
    )
  return { all: over("domain"), repeated: over("domain", "ticktext", "title") }
}

/** A layout at a size of its type and a share of its height; colour bars and annotations have fonts
 * of their own.
 * @param {Layout} layout
 * @param {number} type
 * @param {number} fit
 * @param {Layout[]} repeated axes whose words stand below as well
 * @returns {Layout} */
export function scaled(layout, type, fit, repeated) {
  /** @type {(value: any, key?: string) => any} */
  const grow = (value, key = "") => {
    if (Array.isArray(value)) return value.map((item) => grow(item))
    if (!value || typeof value !== "object") return value
    /** @type {Layout} */
    const out = {}
    for (const [name, part] of Object.entries(value)) out[name] = grow(part, name)
    if (/font$/.test(key) && out.size) out.size = Math.round(out.size * type)
    if (fit < LEAST && repeated.includes(value))
      Object.assign(out, { showticklabels: false, title: null })
    return out
  }
  const large = grow(layout)
  const { margin } = large
  for (const side of Object.keys(margin ?? {})) margin[side] = Math.round(margin[side] * type)
  if (fit < 1 && margin) margin.t = Math.max(margin.t ?? 0, Math.round(HEADING * type))
  if (fit < LEAST && margin?.b) margin.b += HEADING // slanted words are long
  return large
}

/** The layout with larger type.
 * @param {Layout} layout
 * @param {() => void} again called if the page above has moved since and leaves the picture more or
 *     less room */
export function enlarge(layout, again) {
  const factor = growthOfType()
  const height = ((layout.height ?? 0) * (1 + factor)) / 2
  const { all, repeated } = upper(layout)
  const least = all.length && all.length === repeated.length ? LEAST_WITHOUT_WORDS : LEAST
  const fit = height ? fitting(height, least) : 1
  const moved = () => Math.abs(fitting(height, least) - fit) >= 0.01
  if (height) whenMoved(() => isLarge() && firstChart() !== null && moved(), again)
  const type = fit < PRESSED ? Math.max(SMALLEST, factor * Math.sqrt(fit)) : factor
  const large = scaled(layout, type, fit, repeated)
  if (height) large.height = Math.floor(height * fit)
  return large
}
