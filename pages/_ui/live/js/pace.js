// How often a slider asks for a run while it moves. Asked while the page is still running, a
// question cuts that run short, and what is drawn after the slider may never appear. So it waits
// for the end of the run, but for short series that run ahead, as long as charts get their frames all
// the same.

/** What the components of one browser page share.
 * held: sliders held right now; charts: charts here; frames: what they have received. */
export const page = { held: 0, charts: 0, frames: 0 }

// Questions in a row that don't wait for the end of a run, and after how many of them at least half
// must have brought the charts a frame.
const SERIES = 24
const TRIAL = 6
// Series that wait for each run after one that the charts did not keep up with.
const PATIENCE = 12

export class Pace {
  series = 0
  longest = 0
  patience = 0
  framesBefore = 0

  /** @param {{ charts: number, frames: number }} [shared] */
  constructor(shared = page) {
    this.shared = shared
  }

  // Whether the charts don't keep up with this series.
  loses() {
    const { charts, frames } = this.shared
    return charts > 0 && this.series >= TRIAL && frames - this.framesBefore < this.series / 2
  }

  isAhead() {
    return this.series < this.longest && !this.loses()
  }

  /** Whether a question may be asked now.
   * @param {number} open questions without an answer
   * @param {() => boolean} isRunning whether the page is */
  mayAsk(open, isRunning) {
    return this.isAhead() ? open <= 1 : open <= 0 && !isRunning()
  }

  // A question is asked.
  ask() {
    if (this.isAhead()) this.series++
    else this.rest()
  }

  // After a series: if the charts did not keep up with it, wait for each run for a while.
  rest() {
    if (this.loses()) this.patience = PATIENCE
    else if (this.patience > 0) this.patience--
    this.longest = this.patience > 0 ? 0 : SERIES
    this.series = 0
    this.framesBefore = this.shared.frames
  }
}
