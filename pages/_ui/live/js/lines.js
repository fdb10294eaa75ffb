// Plain lines, moved by rewriting the path that Plotly drew (its own update takes 20 ms).

/** What is kept of a line from frame to frame.
 * @typedef {{ paths: Element[], points: Element[], across: string, places: string[] }} Kept */

/** An SVG path through points; one whose height is not finite interrupts it.
 * @param {string[]} places
 * @param {number[]} heights */
export function pathOf(places, heights) {
  let path = ""
  let pen = "M"
  heights.forEach((height, i) => {
    if (Number.isFinite(height)) path += `${pen}${places[i]},${height.toFixed(2)}`
    pen = Number.isFinite(height) ? "L" : "M"
  })
  return path
}

/** Move a line to new values; what to keep of it for the next move.
 * @param {DrawnLine} line
 * @param {Float32Array} y
 * @param {Kept | undefined} kept
 * @returns {Kept} */
export function move(line, y, kept) {
  const paths = kept?.paths ?? line.paths
  const places = kept?.across === line.across ? kept.places : line.places()
  const points = kept?.points ?? line.points
  const heights = Array.from(y, line.height)
  const path = pathOf(places, heights)
  // The first path can hold all pieces.
  for (const [i, piece] of paths.entries()) piece.setAttribute("d", (i === 0 && path) || "M0,0")
  for (const [i, point] of points.entries()) {
    // Plotly's height of a value that is none is undefined.
    const isThere = Number.isFinite(heights[i])
    point.setAttribute("display", isThere ? "inline" : "none")
    if (isThere) point.setAttribute("transform", `translate(${places[i]},${heights[i].toFixed(2)})`)
  }
  return { paths, points, across: line.across, places }
}
