// Reading packets (layout in packets.py), and what the components of one browser page share.

// held: live sliders held right now; charts: live charts here; frames: what they have received.
export const page = { held: 0, charts: 0, frames: 0 }

const TYPES = { i2: Int16Array, f4: Float32Array, u1: Uint8Array }

// Streamlit fades what a run has not drawn anew yet, and for the wait before it makes a layer of it
// in each run: 10 ms a frame for a chart.
export function keepOpaque(element) {
  const inPage = element.getRootNode().host ?? element
  const container = inPage.closest("[data-testid=stElementContainer]")
  container?.style.setProperty("transition", "none", "important")
  container?.style.setProperty("opacity", "1", "important")
}

export function header(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  return { length, ...JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) }
}

// The numbers of a packet, copied to where typed arrays may start.
export function buffers(bytes, { length, buffers }) {
  const body = bytes.slice(4 + length)
  let start = 0
  return buffers.map(([type, count]) => {
    const array = new TYPES[type](body.buffer, start, count)
    start += Math.ceil(array.byteLength / 8) * 8
    return array
  })
}

// The values of theme variables for an element.
export function theme(element, ...names) {
  const style = getComputedStyle(element)
  if (!names.length) names = ["text-color", "border-color", "background-color", "font"].map((n) => `--st-${n}`)
  return names.map((name) => style.getPropertyValue(name).trim())
}
