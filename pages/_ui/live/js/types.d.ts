// What passes between Python, Plotly and these scripts. For `tsc` only: nothing of it is served.

declare module "*.css" {
  const text: string
  export default text
}

interface Window {
  Plotly?: PlotlyLibrary
}

/** What a packet says of each of its buffers: type and number of items. */
type BufferShape = ["i2" | "f4" | "u1", number]

/** Array → coefficient; the array "" is the constant 1. */
type Terms = [array: string, coefficient: number][]

/** The start and the end of an axis. */
type Ends = [number, number]

/** A frame of a chart; `FrameHeader` in packets.py is the same in Python. */
interface FrameHeader {
  /** Where plotly.js is. */
  plotly: string
  /** Where arrays and figures are; an id follows. */
  parts: string
  /** The figure's id. */
  figure: string
  /** Array → id. */
  needs: Record<string, string>
  /** Heatmap → what its cells are the sum of. */
  mixes: Record<string, Terms>
  /** Plotly's attribute strings → values. */
  patch: Record<string, any>
  height: number | null
  alt: string
  /** What the player calls each snapshot. */
  snapshots: string[]
  /** Lines that reach only as far as the snapshot shown. */
  grow: string[]
  notes: Note[]
  /** What is said of the cell pointed at. */
  lens: LensHeader | null
  /** Axis → range to go to; null leaves the reader where they are. */
  zoom: Record<string, Ends> | null
  /** Traces, in the order of the buffers with their y values. */
  lines: string[]
  buffers: BufferShape[]
}

/** `ArrayHeader` in packets.py: value = offset + step · cell. */
interface ArrayHeader {
  frames: number
  rows: number
  cols: number
  offset: number
  step: number
  buffers: BufferShape[]
}

/** `FigureHeader` in packets.py. */
interface FigureHeader {
  buffers: BufferShape[]
}

/** `Group` in lens.py. */
interface LensGroup {
  pictures: string[]
  line: string
  values: Record<string, Terms>
  across: string[]
  up: string[]
  norms: string[]
}

/** `Lens` in lens.py. */
interface LensHeader {
  groups: LensGroup[]
  /** Heatmap, row and column. */
  pin: [string, number, number] | null
  exact: { trace: string; row: number; column: number; values: Record<string, number> } | null
  hint: string
}

interface TextNote {
  kind: "aside" | "arithmetic"
  text: string
}

interface TableNote {
  kind: "table"
  label: string
  heads: string[]
  rows: string[][]
  numbers: number[]
}

type Note = TextNote | TableNote

type Numbers = Int16Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

/** A packed array as it came, and the snapshot of it that is shown. */
interface Cells extends ArrayHeader {
  cells: Numbers
  shown?: Snapshot
}

/** One matrix as numbers, row by row. */
interface Snapshot {
  index: number
  z: Float32Array
  rows: number
  cols: number
  /** Whether a cell has no value. */
  holes: boolean
  fitted?: Fitted
}

/** The same, averaged to a number of pixels. */
interface Fitted {
  size: string
  z: Float32Array
  holes: boolean
}

interface Layer {
  coefficient: number
  z: Float32Array
}

/** A sum of arrays, not worked out yet. */
interface Blend {
  layers: { coefficient: number; shown: Snapshot }[]
  constant: number
  rows: number
  cols: number
}

/** 256 colours as ABGR words, and the values of the first and the last. */
interface Colours {
  table: Uint32Array
  low: number
  high: number
}

/** A frame with what it names, ready to be drawn. */
interface Frame extends FrameHeader {
  number: number
  y: Map<string, Float32Array>
  arrays: Map<string, Cells>
  drawing: Numbers
}

/** A figure as Python packed it. */
interface Figure {
  data: Trace[]
  layout: Layout
  names: string[]
  narrow: Layout
  narrowWidth: number
}

/** Plotly's attributes, as in its reference. */
type Trace = Record<string, any>
type Layout = Record<string, any>

/** Where an axis lies in its chart, in CSS pixels. */
interface PlacedAxis {
  range: Ends
  offset: number
  length: number
}

/** A chart as Plotly has worked it out, or will. */
interface Drawn {
  traces: Trace[]
  layout: Layout
  /** By the id that a trace has, as "x2". */
  axis(id: string): PlacedAxis
}

/** A heatmap's cells along one axis. */
interface CellEdges {
  range: Ends
  /** One more than there are cells, in the axis's own numbers. */
  edges: number[]
  toPixel(value: number): number
}

/** A line as Plotly has drawn it. */
interface DrawnLine {
  paths: Element[]
  points: Element[]
  /** The same as long as the points lie where they did across. */
  across: string
  places(): string[]
  height(y: number): number
}

interface GraphElement extends HTMLElement {
  data: Trace[]
  layout: Layout
  on(event: string, act: (payload: any) => void): void
  emit(event: string, payload: unknown): void
}

/** The public functions of plotly.js that are used here. */
interface PlotlyLibrary {
  Icons: Record<string, object>
  Fx: {
    hover(graph: GraphElement, points: object[], subplot: string): void
    unhover(graph: GraphElement): void
  }
  purge(graph: GraphElement): void
  react(graph: GraphElement, data: Trace[], layout: Layout, config: object): Promise<unknown>
  relayout(graph: GraphElement, change: Layout): Promise<unknown>
  toImage(figure: object, options: object): Promise<string>
}

/** What Streamlit hands to a component with each run. */
interface Component<Data> {
  parentElement: HTMLElement | ShadowRoot
  data: Data
  setStateValue(name: string, value: unknown): void
  setTriggerValue(name: string, value: unknown): void
}

/** What slider.py says of a slider. */
interface SliderData extends Scale {
  label: string
  help: string | null
  value: number
  seq: number
  disabled: boolean
  prefix: string
  suffix: string
  decimals: number
}

/** The values that a slider may have. */
interface Scale {
  low: number
  high: number
  step: number
  log: boolean
}

/** What stage.py says. */
interface StageData {
  present: boolean
  point: string
  below: string
  look: string
  say: string
  done: string
  style: string
  keys: Record<string, string>
}

/** What strip.py says of a strip: the kind of each cell, as an index into the kinds. */
interface StripData {
  label: string
  kinds: StripKind[]
  cells: number[]
  shown: number
}

/** `Kind` in strip.py. */
interface StripKind {
  words: string
  looks: string[]
}
