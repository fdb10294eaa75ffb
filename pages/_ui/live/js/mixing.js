// Cells as numbers: what a packed array holds, sums of arrays, means where pixels are too few, and
// the colour of each. Nothing here needs a browser.

const NO_VALUE = -32768

/** A snapshot's values, NaN where there is none; decoded once for as long as it is shown.
 * @param {Cells} part
 * @param {number} frame
 * @returns {Snapshot} */
function decoded(part, frame) {
  const index = Math.min(frame, part.frames - 1)
  if (part.shown?.index === index) return part.shown
  const { rows, cols } = part
  const size = rows * cols
  const cells = part.cells.subarray(index * size, (index + 1) * size)
  let z = /** @type {Float32Array} */ (cells)
  if (cells instanceof Int16Array) {
    const { offset, step } = part
    z = new Float32Array(size)
    for (let i = 0; i < size; i++) z[i] = cells[i] === NO_VALUE ? NaN : offset + step * cells[i]
  }
  part.shown = { index, z, rows, cols, holes: z.some(Number.isNaN) }
  return part.shown
}

/** The shape that all arrays of a sum have.
 * @param {Terms} terms
 * @param {Map<string, Cells>} arrays */
export function shapeOf(terms, arrays) {
  const [name] = /** @type {Terms[number]} */ (terms.find(([array]) => array))
  return /** @type {Cells} */ (arrays.get(name))
}

/** The sum Σ coefficient × array + constant, not worked out yet.
 * @param {Terms} terms
 * @param {Map<string, Cells>} arrays
 * @param {number} frame
 * @returns {Blend} */
export function blend(terms, arrays, frame = 0) {
  const layers = terms
    .filter(([name]) => name)
    .map(([name, coefficient]) => {
      const part = /** @type {Cells} */ (arrays.get(name))
      return { coefficient, shown: decoded(part, frame) }
    })
  const constant = terms.reduce((sum, [name, coefficient]) => sum + (name ? 0 : coefficient), 0)
  const { rows, cols } = layers[0].shown
  return { layers, constant, rows, cols }
}

/** Values × gain + start, in a loop of its own for one layer and for two: that is fast.
 * @template {Float32Array | Uint8ClampedArray} Out
 * @param {Layer[]} layers
 * @param {number} gain
 * @param {number} start
 * @param {Out} out
 * @returns {Out} */
function add([first, second, ...more], gain, start, out) {
  const z = first.z
  const a = gain * first.coefficient
  if (second) {
    const z2 = second.z
    const b = gain * second.coefficient
    for (let i = 0; i < out.length; i++) out[i] = a * z[i] + b * z2[i] + start
  } else for (let i = 0; i < out.length; i++) out[i] = a * z[i] + start
  for (const layer of more) {
    const c = gain * layer.coefficient
    for (let i = 0; i < out.length; i++) out[i] += c * layer.z[i]
  }
  return out
}

/** A blend's values, NaN where any term has none.
 * @param {Blend} mixed */
export function sum({ layers, constant, rows, cols }) {
  const flat = layers.map(({ coefficient, shown }) => ({ coefficient, z: shown.z }))
  return add(flat, 1, constant, new Float32Array(rows * cols))
}

/** Sums over equal stretches of each line: `count` lines of `from` values become lines of `to`. A
 * value on a border counts for both sides by its share.
 * @param {Float32Array} z
 * @param {number} count
 * @param {number} from
 * @param {number} to
 * @param {[line: number, step: number]} strides of z
 * @param {[line: number, step: number]} stridesOut of the result */
function gather(z, count, from, to, [line, step], [lineOut, stepOut]) {
  const out = new Float32Array(count * to)
  const stretch = from / to
  for (let j = 0; j < to; j++) {
    const start = j * stretch
    const end = Math.min(from, start + stretch)
    for (let k = Math.floor(start); k < end; k++) {
      const share = Math.min(end, k + 1) - Math.max(start, k)
      for (let i = 0; i < count; i++)
        out[i * lineOut + j * stepOut] += share * z[i * line + k * step]
    }
  }
  return out
}

/** @param {Float32Array} z
 * @param {{ rows: number, cols: number }} shape
 * @param {number} height
 * @param {number} width */
function shrink(z, { rows, cols }, height, width) {
  const narrow = gather(z, rows, cols, width, [cols, 1], [width, 1])
  return gather(narrow, width, rows, height, [1, width], [1, width])
}

/** More cells than pixels along a side are averaged, not dropped; cells without a value don't
 * count. Once for an array and a size, so that a moving coefficient mixes no more cells than can be
 * seen.
 * @param {Snapshot} shown
 * @param {number} height
 * @param {number} width
 * @returns {Pick<Fitted, "z" | "holes">} */
export function fit(shown, height, width) {
  if (height === shown.rows && width === shown.cols) return shown
  const size = `${height} ${width}`
  if (shown.fitted?.size === size) return shown.fitted
  const { z, holes } = shown
  const counts = holes
    ? shrink(
        z.map((value) => (Number.isNaN(value) ? 0 : 1)),
        shown,
        height,
        width,
      )
    : null
  const all = (shown.rows * shown.cols) / (height * width)
  const known = holes ? z.map((value) => (Number.isNaN(value) ? 0 : value)) : z
  const sums = shrink(known, shown, height, width)
  const means = sums.map((value, i) => value / (counts ? counts[i] : all)) // 0 / 0 is NaN
  shown.fitted = { size, z: means, holes }
  return shown.fitted
}

/** Fill `pixels` with a blend's colours at a size; a cell without a value stays transparent.
 * @param {Blend} mixed
 * @param {Colours} colours
 * @param {{ width: number, height: number }} size
 * @param {Uint32Array} pixels as ABGR words
 * @param {Uint8ClampedArray} shades a number of each pixel: rounds and clamps as it is filled */
export function shade(mixed, { table, low, high }, { width, height }, pixels, shades) {
  const layers = mixed.layers.map(({ coefficient, shown }) => ({
    coefficient,
    ...fit(shown, height, width),
  }))
  const gain = 255 / (high - low)
  const start = (mixed.constant - low) * gain
  if (layers.length < 3) add(layers, gain, start, shades)
  else shades.set(add(layers, gain, start, new Float32Array(shades.length)))
  for (let i = 0; i < shades.length; i++) pixels[i] = table[shades[i]]
  for (const { z, holes } of layers)
    if (holes)
      z.forEach((value, i) => {
        if (Number.isNaN(value)) pixels[i] = 0
      })
}

/** Where a trace's cells begin and end along an axis; null if they aren't evenly spaced numbers.
 * @param {Trace} trace
 * @param {"x" | "y"} axis
 * @param {number} count
 * @returns {Ends | null} */
export function edges(trace, axis, count) {
  const given = trace[axis]
  let first = trace[`${axis}0`] ?? 0
  let step = trace[`d${axis}`] ?? 1
  if (given !== undefined && given !== null) {
    const n = given.length
    if (n === count + 1 || n < 2 || typeof given[0] !== "number") return null
    first = given[0]
    step = (given[n - 1] - first) / (n - 1)
    for (let i = 1; i < n; i++)
      if (Math.abs(given[i] - first - i * step) > Math.abs(step) * 1e-3) return null
  }
  if (typeof first !== "number" || typeof step !== "number") return null
  return [first - step / 2, first + (count - 0.5) * step]
}
