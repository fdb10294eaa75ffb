// Large type on a projector: every text of a chart grows, and the room around it, as far as the
// window has room for the whole picture. See stage.js.
import { axisName } from "./axes.js"

// What of its height a picture may be pressed to, else it is scrolled: as it is, and where only the
// lowest row needs words under it.
const LEAST = 0.75
const LEAST_WITHOUT_WORDS = 0.38
const PRESSED = 0.85 // where type must be less large, too,
const SMALLEST = 0.9 // of a chart's own type at least
const BELOW = 8 // pixels
const HEADING = 26
const AGAIN = 600 // ms until the page above has come to rest

// As much as the page's own type does.
const by = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16

export const isLarge = () => document.documentElement.hasAttribute("data-present")

// How much of a height there is room for below the top of the page's first chart, at most 1.
function fitting(height, least) {
  const chart = document.querySelector(".live-plot")
  const scrolled = document.querySelector("[data-testid=stMain]")?.scrollTop ?? 0
  const fit = (innerHeight - BELOW - chart.getBoundingClientRect().top - scrolled) / height
  return fit < least || fit > 1 ? 1 : fit
}

// The x axes above others of their column, and those of them whose words stand there as well.
function upper(layout) {
  const axes = Object.entries(layout).filter(([name]) => /^xaxis\d*$/.test(name)).map(([, axis]) => axis)
  const height = ({ anchor = "y" }) => layout[axisName(anchor)]?.domain?.[0] ?? 0
  const same = (one, other, ...what) => what.every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]))
  const over = (...what) => axes.filter((one) =>
    axes.some((other) => same(one, other, "domain", ...what) && height(other) < height(one)))
  return { all: over(), repeated: over("ticktext", "title") }
}

// The layout with larger type; colour bars and annotations have fonts of their own.
// again: called if the page above has moved since and leaves the picture more or less room.
export function enlarge(layout, again) {
  const factor = by()
  const height = ((layout.height ?? 0) * (1 + factor)) / 2
  const { all, repeated } = upper(layout)
  const least = all.length && all.length === repeated.length ? LEAST_WITHOUT_WORDS : LEAST
  const fit = height ? fitting(height, least) : 1
  if (height) setTimeout(() => {
    const isThere = isLarge() && document.querySelector(".live-plot")
    if (isThere && Math.abs(fitting(height, least) - fit) >= 0.01) again()
  }, AGAIN)
  const type = fit < PRESSED ? Math.max(SMALLEST, factor * Math.sqrt(fit)) : factor
  const grow = (value, key) => {
    if (Array.isArray(value)) return value.map((item) => grow(item))
    if (!value || typeof value !== "object") return value
    const out = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, grow(part, name)]))
    if (/font$/.test(key) && out.size) out.size = Math.round(out.size * type)
    if (fit < LEAST && repeated.includes(value)) Object.assign(out, { showticklabels: false, title: null })
    return out
  }
  const large = grow(layout)
  for (const side of Object.keys(large.margin ?? {})) large.margin[side] = Math.round(large.margin[side] * type)
  if (fit < 1 && large.margin) large.margin.t = Math.max(large.margin.t ?? 0, Math.round(HEADING * type))
  if (fit < LEAST && large.margin?.b) large.margin.b += HEADING // slanted words are long
  if (height) large.height = Math.floor(height * fit)
  return large
}
