// The large parts that frames name by their content: figures and arrays, fetched once, kept while used.
import { fetchPart } from "./load.js"

const RETRY = 500 // ms until a part that the server didn't have is asked for again,
const TRIES = 5 // so many times

export class Parts {
  constructor() {
    this.known = new Map()
  }

  fetch(frame, id) {
    if (!this.known.has(id)) this.known.set(id, fetchPart(location.origin + frame.parts + id))
    return this.known.get(id)
  }

  // Fill a frame with all that it names; whether it is still wanted.
  // The server forgets what nobody has used for long, or is another one now: then it is told to put
  // back what is `missing`.
  async complete(frame, isWanted, missing) {
    for (let tries = TRIES; isWanted(); tries--) {
      try {
        await this.all(frame)
        return true
      } catch (error) {
        this.known.clear()
        if (!error.missing || !tries) throw error
        if (!isWanted()) return false
        missing(tries)
        await new Promise((resolve) => setTimeout(resolve, RETRY))
      }
    }
    return false
  }

  async all(frame) {
    const names = Object.keys(frame.needs)
    const [figure, ...arrays] = await Promise.all([
      this.fetch(frame, frame.figure),
      ...names.map((name) => this.fetch(frame, frame.needs[name])),
    ])
    Object.assign(frame, { drawing: figure.cells, arrays: new Map(names.map((name, i) => [name, arrays[i]])) })
  }

  // Only what this frame needs is kept.
  keep(frame) {
    const used = new Set([frame.figure, ...Object.values(frame.needs)])
    for (const id of this.known.keys()) if (!used.has(id)) this.known.delete(id)
  }
}
