// Heatmap cells as pixels on canvases under Plotly's transparent axes.

const NAN_CODE = -32768

// A snapshot's values, NaN where there is none; decoded once for as long as it is shown.
function values(part, frame) {
  const at = Math.min(frame, part.frames - 1)
  if (part.shown?.at === at) return part.shown
  const { rows, cols } = part
  const size = rows * cols
  const cells = part.cells.subarray(at * size, (at + 1) * size)
  let z = cells
  if (cells instanceof Int16Array) {
    const { offset, step } = part
    z = new Float32Array(size)
    for (let i = 0; i < size; i++) z[i] = cells[i] === NAN_CODE ? NaN : offset + step * cells[i]
  }
  part.shown = { at, z, rows, cols, holes: z.some(Number.isNaN) }
  return part.shown
}

// The sum Σ coefficient × array + constant, not worked out yet.
export function blend(terms, parts, frame = 0) {
  const layers = terms.filter(([name]) => name !== "")
    .map(([name, coefficient]) => ({ coefficient, shown: values(parts.get(name), frame) }))
  const constant = terms.reduce((sum, [name, coefficient]) => sum + (name === "" ? coefficient : 0), 0)
  const { rows, cols } = layers[0].shown
  return { layers, constant, rows, cols }
}

// Values × gain + start, in a loop of its own for each number of layers: that is fast.
function add([first, second, ...more], gain, start, z) {
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

// A blend's values, NaN where any term has none.
export function sum({ layers, constant, rows, cols }) {
  const flat = layers.map(({ coefficient, shown }) => ({ coefficient, z: shown.z }))
  return add(flat, 1, constant, new Float32Array(rows * cols))
}

// Sums over equal stretches of each line: `count` lines of `from` values become lines of `to`. A value
// on a border counts for both sides by its share.
function gather(z, count, from, to, [line, step], [lineOut, stepOut]) {
  const out = new Float32Array(count * to)
  const stretch = from / to
  for (let j = 0; j < to; j++) {
    const start = j * stretch
    const end = Math.min(from, start + stretch)
    for (let k = Math.floor(start); k < end; k++) {
      const share = Math.min(end, k + 1) - Math.max(start, k)
      for (let i = 0; i < count; i++) out[i * lineOut + j * stepOut] += share * z[i * line + k * step]
    }
  }
  return out
}

function shrink(z, { rows, cols }, height, width) {
  const narrow = gather(z, rows, cols, width, [cols, 1], [width, 1])
  return gather(narrow, width, rows, height, [1, width], [1, width])
}

// More cells than pixels along a side are averaged, not dropped; cells without a value don't count.
// Once for an array and a size, so that a moving coefficient mixes no more cells than can be seen.
function fit(shown, height, width) {
  if (height === shown.rows && width === shown.cols) return shown
  const size = `${height} ${width}`
  if (shown.fitted?.size === size) return shown.fitted
  const { z, holes } = shown
  const there = holes ? shrink(z.map((value) => (Number.isNaN(value) ? 0 : 1)), shown, height, width) : null
  const whole = (shown.rows * shown.cols) / (height * width)
  const sums = shrink(holes ? z.map((value) => (Number.isNaN(value) ? 0 : value)) : z, shown, height, width)
  const means = sums.map((value, i) => value / (there ? there[i] : whole)) // 0 / 0 is NaN
  shown.fitted = { size, z: means, holes }
  return shown.fitted
}

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
  }

  remove() {
    this.frame.remove()
  }

  // mixed: a blend; colours: { table, low, high }
  paint(mixed, colours) {
    Object.assign(this, { mixed, colours })
    this.render()
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
    this.render()
  }

  // Fewer cells than pixels stay crisp: the canvas is stretched.
  render() {
    if (!this.size || !this.mixed) return
    const { canvas, mixed, colours: { table, low, high } } = this
    const [width, height] = [Math.min(mixed.cols, this.size[0]), Math.min(mixed.rows, this.size[1])]
    if (canvas.width !== width || canvas.height !== height || !this.image) {
      Object.assign(canvas, { width, height })
      this.image = new ImageData(width, height)
      this.pixels = new Uint32Array(this.image.data.buffer)
      this.shades = new Uint8ClampedArray(width * height) // rounds and clamps as it is filled
    }
    const { pixels, shades } = this
    const layers = mixed.layers.map(({ coefficient, shown }) => ({ coefficient, ...fit(shown, height, width) }))
    const gain = 255 / (high - low)
    const start = (mixed.constant - low) * gain
    if (layers.length < 3) add(layers, gain, start, shades)
    else shades.set(add(layers, gain, start, new Float32Array(shades.length)))
    for (let i = 0; i < shades.length; i++) pixels[i] = table[shades[i]]
    // A cell without a value stays transparent.
    for (const { z, holes } of layers)
      if (holes) z.forEach((value, i) => { if (Number.isNaN(value)) pixels[i] = 0 })
    canvas.getContext("2d").putImageData(this.image, 0, 0)
  }
}
