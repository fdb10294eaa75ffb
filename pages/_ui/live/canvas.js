// Heatmap cells as pixels on canvases under Plotly's transparent axes.

const NAN_CODE = -32768

// Σ coefficient × array + constant, as Float32: { z, rows, cols }. NaN where any term has no value.
// `used`: an earlier result that may be overwritten.
export function mix(terms, parts, frame = 0, used = null) {
  let out = null
  let constant = 0
  for (const [name, coefficient] of terms) {
    if (name === "") {
      constant += coefficient
      continue
    }
    const { cells, rows, cols, frames, offset, step } = parts.get(name)
    const size = rows * cols
    const start = Math.min(frame, frames - 1) * size
    const base = coefficient * offset
    const gain = coefficient * step
    if (!out) {
      const z = used?.z.length === size ? used.z.fill(0) : new Float32Array(size)
      out = { z, rows, cols }
    }
    const { z } = out
    if (cells instanceof Int16Array)
      for (let i = 0; i < size; i++) {
        const cell = cells[start + i]
        z[i] += cell === NAN_CODE ? NaN : base + gain * cell
      }
    else for (let i = 0; i < size; i++) z[i] += base + gain * cells[start + i]
  }
  if (constant) for (let i = 0; i < out.z.length; i++) out.z[i] += constant
  return out
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
    this.source = document.createElement("canvas")
  }

  remove() {
    this.frame.remove()
  }

  // colours: { table, low, high }
  paint(mixed, { table, low, high }) {
    const { source } = this
    const { z, rows, cols } = mixed
    this.mixed = mixed
    if (source.width !== cols || source.height !== rows || !this.image) {
      Object.assign(source, { width: cols, height: rows })
      this.image = new ImageData(cols, rows)
      this.pixels = new Uint32Array(this.image.data.buffer)
    }
    const { pixels } = this
    const gain = 255 / (high - low)
    for (let i = 0; i < z.length; i++) {
      const t = (z[i] - low) * gain
      // A cell without a value stays transparent.
      pixels[i] = t !== t ? 0 : table[t < 0 ? 0 : t > 255 ? 255 : (t + 0.5) | 0]
    }
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
