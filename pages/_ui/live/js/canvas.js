// Heatmap cells as pixels on canvases under Plotly's transparent axes.
import { shade } from "./mixing.js"

/** @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [settings] */
const contextOf = (canvas, settings) =>
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", settings))

/** 256 colours as ABGR words, from a Plotly colour scale [[0, "rgb(…)"], …, [1, …]].
 * @param {[at: number, colour: string][]} scale
 * @param {boolean} reversed */
export function lookup(scale, reversed) {
  const strip = Object.assign(document.createElement("canvas"), { width: 256, height: 1 })
  const context = contextOf(strip, { willReadFrequently: true })
  const gradient = context.createLinearGradient(0.5, 0, 255.5, 0)
  for (const [at, colour] of scale) gradient.addColorStop(reversed ? 1 - at : at, colour)
  context.fillStyle = gradient
  context.fillRect(0, 0, 256, 1)
  return new Uint32Array(context.getImageData(0, 0, 256, 1).data.buffer)
}

/** Where the cells lie: the frame's style, the canvas's style and size, of axes and cells' extents.
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 * @param {Ends} across
 * @param {Ends} up */
export function placement(x, y, across, up) {
  const pixel = (/** @type {PlacedAxis} */ axis, /** @type {number} */ value) =>
    ((value - axis.range[0]) / (axis.range[1] - axis.range[0])) * axis.length
  const [left, right] = across.map((value) => pixel(x, value))
  const [first, last] = up.map((value) => y.length - pixel(y, value))
  const width = Math.abs(right - left)
  const height = Math.abs(last - first)
  return {
    frame: {
      left: `${x.offset}px`,
      top: `${y.offset}px`,
      width: `${x.length}px`,
      height: `${y.length}px`,
    },
    canvas: {
      left: `${Math.min(left, right)}px`,
      top: `${Math.min(first, last)}px`,
      width: `${width}px`,
      height: `${height}px`,
      // Row 0 is at the bottom unless the axis is reversed.
      transform: `scale(${right < left ? -1 : 1}, ${last < first ? -1 : 1})`,
    },
    size: { width, height },
  }
}

// One heatmap's canvas, clipped to its subplot.
export class Picture {
  /** @type {Blend | null} */
  mixed = null
  /** @type {Colours | null} */
  colours = null
  /** @type {{ width: number, height: number } | null} */
  size = null
  /** @type {{ image: ImageData, pixels: Uint32Array, shades: Uint8ClampedArray } | null} */
  room = null
  placed = ""

  /** @param {Element} layer */
  constructor(layer) {
    this.frame = Object.assign(document.createElement("div"), { className: "live-plot-cells" })
    this.canvas = document.createElement("canvas")
    this.frame.append(this.canvas)
    layer.append(this.frame)
  }

  remove() {
    this.frame.remove()
  }

  /** @param {Blend} mixed
   * @param {Colours} colours */
  paint(mixed, colours) {
    Object.assign(this, { mixed, colours })
    this.render()
  }

  /** @param {PlacedAxis} x
   * @param {PlacedAxis} y
   * @param {Ends} across the cells' extent on x
   * @param {Ends} up */
  place(x, y, across, up) {
    const { frame, canvas, size } = placement(x, y, across, up)
    const placed = JSON.stringify([frame, canvas])
    if (placed === this.placed) return
    this.placed = placed
    Object.assign(this.frame.style, frame)
    Object.assign(this.canvas.style, canvas)
    const pixels = (/** @type {number} */ length) =>
      Math.max(1, Math.round(length * devicePixelRatio))
    this.size = { width: pixels(size.width), height: pixels(size.height) }
    this.render()
  }

  // Fewer cells than pixels stay crisp: the canvas is stretched.
  render() {
    const { canvas, mixed, colours, size } = this
    if (!size || !mixed || !colours) return
    const width = Math.min(mixed.cols, size.width)
    const height = Math.min(mixed.rows, size.height)
    if (canvas.width !== width || canvas.height !== height || !this.room) {
      Object.assign(canvas, { width, height })
      const image = new ImageData(width, height)
      const pixels = new Uint32Array(image.data.buffer)
      this.room = { image, pixels, shades: new Uint8ClampedArray(width * height) }
    }
    const { image, pixels, shades } = this.room
    shade(mixed, colours, { width, height }, pixels, shades)
    contextOf(canvas).putImageData(image, 0, 0)
  }
}
