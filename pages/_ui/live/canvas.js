// Heatmap cells as pixels on canvases under Plotly's transparent axes.

const NAN_CODE = -32768

// A snapshot's values, NaN where there is none; decoded once for as long as it is shown.
function values(part, frame) {
  const at = Math.min(frame, part.frames - 1)
  if (part.shown?.at === at) return part.shown
  const size = part.rows * part.cols
  const cells = part.cells.subarray(at * size, (at + 1) * size)
  let z = cells
  if (cells instanceof Int16Array) {
    const { offset, step } = part
    z = new Float32Array(size)
    for (let i = 0; i < size; i++) z[i] = cells[i] === NAN_CODE ? NaN : offset + step * cells[i]
  }
  part.shown = { at, z, holes: z.some(Number.isNaN) }
  return part.shown
}

// The sum Σ coefficient × array + constant, not worked out yet.
export function blend(terms, parts, frame = 0) {
  const layers = terms.filter(([name]) => name !== "")
    .map(([name, coefficient]) => ({ coefficient, ...values(parts.get(name), frame) }))
  const constant = terms.reduce((sum, [name, coefficient]) => sum + (name === "" ? coefficient : 0), 0)
  const { rows, cols } = parts.get(terms.find(([name]) => name !== "")[0])
  return { layers, constant, rows, cols }
}

// Its values × gain + start, in a loop of its own for each number of layers: that is fast.
function add({ layers: [first, second, ...more] }, gain, start, z) {
  const one = first.z
  const a = gain * first.coefficient
  if (second) {
    const two = second.z
    const b = gain * second.coefficient
    for (let i = 0; i < z.length; i++) z[i] = a * one[i] + b * two[i] + start
  } else for (let i = 0; i < z.length; i++) z[i] = a * one[i] + start
  for (const layer of more) {
    const c = gain * layer.coefficient
    for (let i = 0; i < z.length; i++) z[i] += c * layer.z[i]
  }
  return z
}

// Its values, NaN where any term has none.
export const sum = (mixed) => add(mixed, 1, mixed.constant, new Float32Array(mixed.rows * mixed.cols))

// 256 colours as ABGR words, from a Plotly colour scale [[0, "rgb(…)"], …, [1, …]].
export function lookup(scale, reversed) {
  const strip = Object.assign(document.createElement("canvas"), { width: 256, height: 1 })
  const context = strip.getContext("2d", { willReadFrequently: true })
  const gradient = context.createLinearGradient(0.5, 0, 255.5, 0)
  for (const [at, colour] of scale) gradient.addColorStop(reversed ? 1 - at : at, colour)
  context.fillStyle = gradient
  context.fillRect(0, 0, 256, 1)
  return new Uint32Array(context.getImageData(0, 0, 256, 1).data.buffer)
}

// Where a trace's cells begin and end along one axis, or null if they aren't evenly spaced numbers.
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

// One heatmap's canvas, clipped to its subplot.
export class Picture {
  constructor(layer) {
    this.frame = Object.assign(document.createElement("div"), { className: "live-plot-cells" })
    this.canvas = document.createElement("canvas")
    this.frame.append(this.canvas)
    layer.append(this.frame)
    this.source = document.createElement("canvas")
  }

  remove() {
    this.frame.remove()
  }

  // mixed: a blend; colours: { table, low, high }
  paint(mixed, { table, low, high }) {
    const { source } = this
    const { rows, cols } = mixed
    if (source.width !== cols || source.height !== rows || !this.image) {
      Object.assign(source, { width: cols, height: rows })
      this.image = new ImageData(cols, rows)
      this.pixels = new Uint32Array(this.image.data.buffer)
      this.shades = new Uint8ClampedArray(rows * cols) // rounds and clamps as it is filled
    }
    const { pixels, shades } = this
    const gain = 255 / (high - low)
    const start = (mixed.constant - low) * gain
    if (mixed.layers.length < 3) add(mixed, gain, start, shades)
    else shades.set(add(mixed, gain, start, new Float32Array(shades.length)))
    for (let i = 0; i < shades.length; i++) pixels[i] = table[shades[i]]
    // A cell without a value stays transparent.
    for (const { z, holes } of mixed.layers)
      if (holes) z.forEach((value, i) => { if (Number.isNaN(value)) pixels[i] = 0 })
    this.fresh = true
    this.copy()
  }

  // x, y: Plotly's axes; across, up: the cells' extent on them.
  place(x, y, across, up) {
    const pixel = (axis, value) =>
      ((value - axis.range[0]) / (axis.range[1] - axis.range[0])) * axis._length
    const [left, right] = across.map((value) => pixel(x, value))
    const [first, last] = up.map((value) => y._length - pixel(y, value))
    const width = Math.abs(right - left)
    const height = Math.abs(last - first)
    const placement = [x._offset, y._offset, x._length, y._length, left, right, first, last].join()
    if (placement === this.placement) return
    this.placement = placement
    Object.assign(this.frame.style, {
      left: `${x._offset}px`, top: `${y._offset}px`,
      width: `${x._length}px`, height: `${y._length}px`,
    })
    Object.assign(this.canvas.style, {
      left: `${Math.min(left, right)}px`, top: `${Math.min(first, last)}px`,
      width: `${width}px`, height: `${height}px`,
      // Row 0 is at the bottom unless the axis is reversed.
      transform: `scale(${right < left ? -1 : 1}, ${last < first ? -1 : 1})`,
    })
    this.size = [width, height].map((length) => Math.max(1, Math.round(length * devicePixelRatio)))
    this.copy()
  }

  // More cells than pixels along a side are averaged, not dropped; fewer stay crisp.
  copy() {
    if (!this.size || !this.image) return
    const { canvas, source, image } = this
    const width = Math.min(image.width, this.size[0])
    const height = Math.min(image.height, this.size[1])
    const resized = canvas.width !== width || canvas.height !== height
    if (!resized && !this.fresh) return
    if (resized) Object.assign(canvas, { width, height })
    this.fresh = false
    const context = canvas.getContext("2d")
    if (width === image.width && height === image.height) return context.putImageData(image, 0, 0)
    source.getContext("2d").putImageData(image, 0, 0)
    context.clearRect(0, 0, width, height)
    context.imageSmoothingQuality = "medium"
    context.drawImage(source, 0, 0, width, height)
  }
}
