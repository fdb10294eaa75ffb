// Packets (layout in packets.py): read, and those that frames name by their content fetched once
// and kept while used.

const TYPES = { i2: Int16Array, f4: Float32Array, u1: Uint8Array }
const RETRY = 500 // ms until a part that the server didn't have is asked for again,
const TRIES = 5 // so many times

/** A packet's header, and its numbers, copied to where typed arrays may start.
 * @template {{ buffers: BufferShape[] }} Header
 * @param {Uint8Array} bytes
 * @returns {{ header: Header, buffers: Numbers[] }} what is in it is what its sender says */
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  /** @type {Header} */
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
  const body = bytes.slice(4 + length)
  let start = 0
  const buffers = header.buffers.map(([type, count]) => {
    const array = new TYPES[type](body.buffer, start, count)
    start += Math.ceil(array.byteLength / 8) * 8
    return array
  })
  return { header, buffers }
}

// The server doesn't have what was asked for.
class Missing extends Error {}

/** An array or a figure by its URL.
 * @param {string} url
 * @returns {Promise<Cells>} for a figure, only its `cells` */
async function fetchPart(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Missing(`${url}: ${answer.status}`)
  const bytes = new Uint8Array(await answer.arrayBuffer())
  const { header, buffers } = unpack(/** @type {Uint8Array} */ (bytes))
  return { .../** @type {ArrayHeader} */ (header), cells: buffers[0] }
}

export class Parts {
  /** @type {Map<string, Promise<Cells>>} */
  known = new Map()

  /** @param {FrameHeader} frame
   * @param {string} id */
  fetch(frame, id) {
    const part = this.known.get(id) ?? fetchPart(location.origin + frame.parts + id)
    this.known.set(id, part)
    return part
  }

  /** What a frame names; null if it is no longer wanted.
   * The server forgets what nobody has used for long, or is another one now: then it is told to put
   * back what is `missing`.
   * @param {FrameHeader} frame
   * @param {() => boolean} isWanted
   * @param {(tries: number) => void} missing */
  async complete(frame, isWanted, missing) {
    for (let tries = TRIES; isWanted(); tries--) {
      try {
        return await this.all(frame)
      } catch (error) {
        this.known.clear()
        if (!(error instanceof Missing) || !tries) throw error
        if (!isWanted()) return null
        missing(tries)
        await new Promise((resolve) => setTimeout(resolve, RETRY))
      }
    }
    return null
  }

  /** @param {FrameHeader} frame */
  async all(frame) {
    const [figure, ...arrays] = await Promise.all([
      this.fetch(frame, frame.figure),
      ...Object.values(frame.needs).map((id) => this.fetch(frame, id)),
    ])
    const named = Object.keys(frame.needs).map(
      (name, i) => /** @type {const} */ ([name, arrays[i]]),
    )
    return { drawing: figure.cells, arrays: new Map(named) }
  }

  /** Only what this frame needs is kept.
   * @param {FrameHeader} frame */
  keep(frame) {
    const used = new Set([frame.figure, ...Object.values(frame.needs)])
    for (const id of this.known.keys()) if (!used.has(id)) this.known.delete(id)
  }
}
