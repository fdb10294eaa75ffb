// Play, pause and scrub through snapshots that are all here already.

const PAUSE = 80 // ms from one snapshot to the next

export class Player {
  // show(index): called whenever another snapshot is to be seen.
  constructor(root, show) {
    this.root = root
    this.show = show
    this.index = 0
    this.count = 1
  }

  // count snapshots, of which names may say more than a number; at first the last one is shown.
  describe(count, names) {
    if (count < 2 && !this.box) return
    if (!this.box) this.build()
    this.box.hidden = count < 2
    const stays = this.count === count
    Object.assign(this, { count, names })
    this.range.max = count - 1
    this.go(stays ? this.index : count - 1, true)
  }

  build() {
    this.box = this.root.appendChild(document.createElement("div"))
    this.box.className = "live-plot-player"
    this.box.innerHTML = `<button type="button">Play</button><input type="range" min="0" step="1"
      aria-label="Snapshot"><output></output>`
    ;[this.button, this.range, this.output] = this.box.children
    this.button.onclick = () => this.play(!this.playing)
    this.range.oninput = () => { this.play(false); this.go(+this.range.value) }
  }

  go(index, silent = false) {
    this.index = index
    this.range.value = index
    this.output.textContent = this.names[index] ?? `${index + 1} of ${this.count}`
    this.range.setAttribute("aria-valuetext", this.output.textContent)
    if (!silent) this.show(index)
  }

  play(playing) {
    this.playing = playing
    this.button.textContent = playing ? "Pause" : "Play"
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
