// The part of a patch that Plotly can take over without drawing everything anew.
import { put } from "./dress.js"

const COLOURS = /^(coloraxis\d*)\.c(min|max)$/
const RANGE = /^([xy]axis\d*)\.range$/

// What to relayout, with { axis: range } of the axes among it; null if it takes a full draw.
// A colour range by itself would: Plotly works out all heatmaps again (50 ms, ten times the bar's
// own drawing), of which canvases need nothing. So only the bar is drawn, with the new range in place.
export function adjustment(graph, before, after, zoomed) {
  const changed = Object.keys({ ...before, ...after })
    .filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path]))
  const ranges = {}
  for (const path of changed) {
    const [, axis] = path.match(RANGE) ?? []
    if (!(path in after) || zoomed[axis] || !(axis || COLOURS.test(path))) return null
    if (axis) ranges[axis] = after[path]
  }
  const update = {}
  for (const path of changed) {
    const [, scale] = path.match(COLOURS) ?? []
    if (!scale) update[path] = [...after[path]]
    else {
      put(graph.layout, path, after[path])
      const used = graph._fullLayout[scale]
      if (used) update[`${scale}.colorbar.outlinewidth`] = used.colorbar?.outlinewidth ?? 1
    }
  }
  return { update, ranges }
}
