// The window's height that is left for a picture: pictures are as tall as it allows.
import { scrolled } from "./streamlit.js"

const BELOW = 8 // pixels
const AGAIN = 600 // ms until the page above has come to rest
const MOST = 1.6 // times its own height: beyond that there is nothing more to see
const NOTICED = 6 // pixels

/** From the top of a chart to the end of the window, were the page not scrolled.
 * @param {Element | null} chart */
export const roomBelow = (chart) =>
  innerHeight - BELOW - (chart?.getBoundingClientRect().top ?? 0) - scrolled()

/** Call ``again`` if ``moved`` says so once the page above has come to rest.
 * @param {() => boolean} moved
 * @param {() => void} again */
export const whenMoved = (moved, again) => setTimeout(() => moved() && again(), AGAIN)

/** The height of a chart that fills the window.
 * @param {Element} chart
 * @param {number} own its height where no window asks for another
 * @param {number} least
 * @param {() => void} again called if the page above has moved since
 * @returns {number} */
export function filling(chart, own, least, again) {
  const fit = () => Math.round(Math.min(Math.max(roomBelow(chart), least), own * MOST))
  const height = fit()
  whenMoved(() => chart.isConnected && Math.abs(fit() - height) > NOTICED, again)
  return height
}

/** A layout at another height: its pictures grow or shrink, what stands between them stays as high.
 * @param {Layout} layout
 * @param {number} height
 * @returns {Layout} */
export function stretched(layout, height) {
  const { t = 0, b = 0 } = layout.margin ?? {}
  const before = (layout.height ?? 0) - t - b
  const after = height - t - b
  const rows = rowsOf(layout)
  const share = rows.reduce((sum, [low, high]) => sum + high - low, 0)
  const factor = (after - before * (1 - share)) / (before * share)
  if (!(factor > 0)) return { ...layout, height }
  /** Where something at a share of the height comes to be. @param {number} at */
  const place = (at) => {
    const inside = rows.reduce((sum, [low, high]) => sum + Math.max(0, Math.min(at, high) - low), 0)
    return Math.min(1, ((at - inside + inside * factor) * before) / after)
  }
  /** @type {(value: any) => any} */
  const onPaper = (note) => {
    if (note.yref !== "paper") return note
    const moved = { ...note }
    for (const name of ["y", "y0", "y1"]) if (name in note) moved[name] = place(note[name])
    return moved
  }
  /** @type {Layout} */
  const out = { ...layout, height }
  for (const [name, part] of Object.entries(layout)) {
    if (/^yaxis\d*$/.test(name) && part.domain)
      out[name] = { ...part, domain: part.domain.map(place) }
    else if (/^scene\d*$/.test(name) && part.domain?.y)
      out[name] = { ...part, domain: { ...part.domain, y: part.domain.y.map(place) } }
    else if (/^coloraxis\d*$/.test(name) && part.colorbar)
      out[name] = { ...part, colorbar: bar(part.colorbar, place) }
    else if (name === "annotations" || name === "shapes") out[name] = part.map(onPaper)
  }
  return out
}

/** Which shares of the height have pictures, from below.
 * @param {Layout} layout
 * @returns {Ends[]} */
function rowsOf(layout) {
  const domains = Object.entries(layout)
    .filter(([name]) => /^(yaxis|scene)\d*$/.test(name))
    .map(([, { domain }]) => domain?.y ?? domain ?? [0, 1])
    .sort((first, second) => first[0] - second[0])
  /** @type {Ends[]} */
  const rows = []
  for (const [low, high] of domains) {
    const last = rows.at(-1)
    if (last && low < last[1]) last[1] = Math.max(last[1], high)
    else rows.push([low, high])
  }
  return rows
}

/** @param {Layout} colorbar
 * @param {(at: number) => number} place */
function bar(colorbar, place) {
  const { y = 0.5, yanchor = "middle", len = 1, orientation, lenmode } = colorbar
  if (orientation === "h" || lenmode === "pixels") return { ...colorbar, y: place(y) }
  const low = y - len * ({ top: 1, middle: 0.5, bottom: 0 }[String(yanchor)] ?? 0.5)
  const [from, to] = [place(low), place(low + len)]
  return { ...colorbar, yanchor: "top", y: to, len: to - from }
}
