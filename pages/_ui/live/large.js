// Large type on a projector: every text of a chart grows, and the room around it. See stage.js.

// As much as the page's own type does.
const by = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16

export const isLarge = () => document.documentElement.hasAttribute("data-present")

// The layout with larger type; colour bars and annotations have fonts of their own.
export function enlarge(layout) {
  const factor = by()
  const grow = (value, key) => {
    if (Array.isArray(value)) return value.map((item) => grow(item))
    if (!value || typeof value !== "object") return value
    const out = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, grow(part, name)]))
    if (/font$/.test(key) && out.size) out.size = Math.round(out.size * factor)
    return out
  }
  const large = grow(layout)
  for (const side of Object.keys(large.margin ?? {})) large.margin[side] = Math.round(large.margin[side] * factor)
  if (large.height) large.height = Math.round(large.height * (1 + factor) / 2)
  return large
}
