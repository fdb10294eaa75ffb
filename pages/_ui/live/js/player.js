// Play, pause and scrub through snapshots that are all here already.

const PAUSE = 80 // ms from one snapshot to the next
const HTML = `<button type="button">Play</button><input type="range" min="0" step="1"
  aria-label="Snapshot"><output></output>`

export class Player {
  index = 0
  count = 1
  playing = false
  /** @type {string[]} */
  names = []
  /** @type {number | undefined} */
  timer
  /** @type {null |
   *   { box: HTMLElement, button: Element, range: HTMLInputElement, output: Element }} */
  controls = null

  /** @param {Element} root
   * @param {() => void} show called whenever another snapshot is to be seen */
  constructor(root, show) {
    this.root = root
    this.show = show
  }

  /** So many snapshots, of which names may say more than a number; at first the last one is shown.
   * @param {number} count
   * @param {string[]} names */
  describe(count, names) {
    if (count < 2 && !this.controls) return
    const { box, range } = this.build()
    box.hidden = count < 2
    const stays = this.count === count
    Object.assign(this, { count, names })
    range.max = String(count - 1)
    this.go(stays ? this.index : count - 1, true)
  }

  build() {
    if (this.controls) return this.controls
    const box = this.root.appendChild(document.createElement("div"))
    box.className = "live-plot-player"
    box.innerHTML = HTML
    const [button, range, output] = /** @type {[HTMLElement, HTMLInputElement, Element]} */ (
      /** @type {unknown} */ (Array.from(box.children))
    )
    button.onclick = () => this.play(!this.playing)
    range.oninput = () => {
      this.play(false)
      this.go(+range.value)
    }
    this.controls = { box, button, range, output }
    return this.controls
  }

  /** @param {number} index */
  go(index, silent = false) {
    const { range, output } = this.build()
    this.index = index
    range.value = String(index)
    const name = this.names[index] ?? `${index + 1} of ${this.count}`
    output.textContent = name
    range.setAttribute("aria-valuetext", name)
    if (!silent) this.show()
  }

  /** @param {boolean} playing */
  play(playing) {
    this.playing = playing
    this.build().button.textContent = playing ? "Pause" : "Play"
    clearInterval(this.timer)
    if (!playing) return
    if (this.index >= this.count - 1) this.go(0)
    this.timer = setInterval(() => {
      this.go(this.index + 1)
      if (this.index >= this.count - 1) this.play(false)
    }, PAUSE)
  }

  stop() {
    clearInterval(this.timer)
  }
}
