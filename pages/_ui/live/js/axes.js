// Plotly's axes and their ranges.

// "x2" → "xaxis2"
export const axisName = (id) => `${id[0]}axis${id.slice(1)}`
export const axesOf = (layout) => Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name))

export function overlap(a, b) {
  const low = Math.max(Math.min(...a), Math.min(...b))
  return low < Math.min(Math.max(...a), Math.max(...b))
}

// Which axes are elsewhere than at home (a range, or undefined for one that follows its data).
export function awayFrom(home, layout) {
  const away = {}
  for (const axis of axesOf(layout)) {
    const { range, autorange } = layout[axis]
    const start = home[axis]
    const same = start
      ? start.every((end, i) => Math.abs(end - range[i]) < 1e-9 * Math.abs(start[1] - start[0]))
      : autorange
    if (!same) away[axis] = [...range]
  }
  return away
}
