// A range input and a number field that report while they move. See slider.py.
import { keepOpaque, page } from "./packet.js"

const sliders = new WeakMap()

const CSS = `
.live { display: grid; grid-template-columns: 1fr auto; align-items: center; column-gap: .5rem;
  color: var(--st-text-color); font: 400 .875rem var(--st-font); }
.live[data-disabled] { opacity: .5 }
label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.number { display: flex; align-items: center; gap: .15em }
input[type=number] { width: calc(var(--digits) * 1ch + 1.4em); min-height: 1.75rem; padding: 0 .3em;
  box-sizing: border-box; text-align: right; font: inherit; color: inherit; appearance: textfield;
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); font-variant-numeric: tabular-nums }
input[type=number]::-webkit-inner-spin-button { appearance: none }
input:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px }
/* 44 px high: a finger finds it */
input[type=range] { grid-column: 1 / -1; width: 100%; height: 44px; margin: 0; appearance: none;
  background: none; cursor: pointer; border-radius: var(--st-base-radius); touch-action: pan-y }
input[type=range]:disabled { cursor: not-allowed }
input[type=range]:focus-visible { outline: none }
input[type=range]:focus-visible::-webkit-slider-thumb { outline: 2px solid var(--st-primary-color);
  outline-offset: 3px }
input[type=range]:focus-visible::-moz-range-thumb { outline: 2px solid var(--st-primary-color);
  outline-offset: 3px }
input[type=range]::-webkit-slider-runnable-track { height: 4px; border-radius: 2px;
  background: linear-gradient(to right, var(--st-primary-color) var(--fill),
    var(--st-border-color) var(--fill)) }
input[type=range]::-moz-range-track { height: 4px; border-radius: 2px;
  background: var(--st-border-color) }
input[type=range]::-moz-range-progress { height: 4px; border-radius: 2px;
  background: var(--st-primary-color) }
input[type=range]::-webkit-slider-thumb { appearance: none; width: 16px; height: 16px;
  margin-top: -6px; border-radius: 50%; background: var(--st-primary-color) }
input[type=range]::-moz-range-thumb { width: 16px; height: 16px; border: 0; border-radius: 50%;
  background: var(--st-primary-color) }
.ends { grid-column: 1 / -1; display: flex; justify-content: space-between; margin-top: -12px;
  font-size: .75rem; opacity: .75; pointer-events: none }
`
const HTML = `
<div class="live">
  <label for="range"></label>
  <span class="number"><span class="prefix"></span><input type="number"><span class="suffix"></span></span>
  <input type="range" id="range">
  <div class="ends" aria-hidden="true"><span></span><span></span></div>
</div>`

// Streamlit's root element says what the script is doing.
const app = () => document.querySelector("[data-test-script-state]")
const isRunning = () => ["running", "rerunRequested"].includes(app()?.dataset.testScriptState)

const idlers = new Set()
let watching = null
function whenIdle(action) {
  idlers.add(action)
  if (!app()) return
  watching ??= new MutationObserver(() => {
    if (isRunning()) return
    const due = [...idlers]
    idlers.clear()
    due.forEach((act) => act())
  })
  watching.observe(app(), { attributeFilter: ["data-test-script-state"] })
}

const LOG_POSITIONS = 1000
// Neither a lost answer nor a long run may silence the slider; ms.
const PATIENCE = 1000
// Questions in a row that don't wait for the end of a run, and after how many of them at least half
// must have brought the charts a frame.
const SERIES = 24
const TRIAL = 6

class Slider {
  constructor(root) {
    root.append(Object.assign(document.createElement("style"), { textContent: CSS }))
    root.append(document.createRange().createContextualFragment(HTML))
    const find = (selector) => root.querySelector(selector)
    this.box = find(".live")
    keepOpaque(this.box)
    this.range = find("input[type=range]")
    this.field = find("input[type=number]")
    this.held = false
    this.sent = null
    Object.assign(this, { series: 0, longest: 0, patience: 0, mark: 0 })
    this.retry = () => this.flush()
    this.range.addEventListener("input", () => this.move(this.fromPosition(+this.range.value), this.held))
    this.range.addEventListener("change", () => this.release())
    this.range.addEventListener("pointerdown", () => this.hold(true))
    this.range.addEventListener("pointerup", () => this.hold(false))
    this.range.addEventListener("pointercancel", () => this.hold(false))
    this.range.addEventListener("keydown", (event) => this.key(event))
    this.field.addEventListener("change", () => {
      const typed = this.field.valueAsNumber
      this.move(Number.isFinite(typed) ? this.snap(typed) : this.value, false)
      this.show()
      this.field.value = this.plain(this.value)
    })
  }

  // New properties from Python. Older answers than our newest question don't move the control.
  receive(data, send) {
    this.send = send
    if (this.sent === null) this.sent = { seq: data.seq, value: data.value }
    const settled = data.seq >= this.sent.seq
    this.answered = Math.max(this.answered ?? 0, data.seq)
    const same = this.data && JSON.stringify({ ...data, value: 0, seq: 0 }) === this.properties
    this.data = data
    if (!same) this.describe()
    if (settled) this.sent.seq = data.seq
    if (this.next) this.flush()
    else if (settled && !this.held) this.value = data.value
    if (!same || (settled && !this.held)) this.show()
  }

  describe() {
    const { data, box, range, field } = this
    this.properties = JSON.stringify({ ...data, value: 0, seq: 0 })
    const text = (selector, value) => (box.querySelector(selector).textContent = value)
    text("label", data.label)
    text(".prefix", data.prefix)
    text(".suffix", data.suffix)
    text(".ends span:first-child", this.plain(data.low))
    text(".ends span:last-child", this.plain(data.high))
    box.title = data.help ?? ""
    box.toggleAttribute("data-disabled", data.disabled)
    range.disabled = field.disabled = data.disabled
    range.setAttribute("aria-label", data.label)
    if (data.help) range.setAttribute("aria-description", data.help)
    field.setAttribute("aria-label", `${data.label}, number`)
    Object.assign(field, { min: data.low, max: data.high, step: data.step })
    Object.assign(range, data.log
      ? { min: 0, max: LOG_POSITIONS, step: 1 }
      : { min: data.low, max: data.high, step: data.step })
    box.style.setProperty("--digits", Math.max(this.plain(data.low).length, this.plain(data.high).length))
    this.value ??= data.value
  }

  show() {
    const { data, range, field, value, box } = this
    const position = this.toPosition(value)
    if (+range.value !== position && !this.held) range.value = position
    const share = (position - +range.min) / (+range.max - +range.min)
    // The thumb's centre travels between 8 px from either end.
    box.style.setProperty("--fill", `calc(8px + ${share} * (100% - 16px))`)
    range.setAttribute("aria-valuetext", `${data.prefix}${this.plain(value)}${data.suffix}`)
    const editing = field.getRootNode().activeElement === field && field.value !== this.plain(this.shown)
    if (!editing || this.shown !== value) field.value = this.plain(value)
    this.shown = value
  }

  plain(value) {
    return Number(value).toFixed(this.data.decimals)
  }

  snap(value) {
    const { low, high, step } = this.data
    const snapped = low + Math.round((Math.min(Math.max(value, low), high) - low) / step) * step
    return +Math.min(snapped, high).toPrecision(12)
  }

  fromPosition(position) {
    const { low, high, log } = this.data
    return this.snap(log ? low * (high / low) ** (position / LOG_POSITIONS) : position)
  }

  toPosition(value) {
    const { low, high, log } = this.data
    if (!log) return value
    return Math.round((LOG_POSITIONS * Math.log(value / low)) / Math.log(high / low))
  }

  // On a logarithmic scale a position is not a value: arrows go 5 % or a step, Page keys to powers of 2.
  key(event) {
    if (!this.data.log || event.ctrlKey || event.altKey || event.metaKey) return
    const { low, high, step } = this.data
    const value = this.value
    const stride = Math.max(step, value * 0.05)
    const target = {
      ArrowRight: value + stride, ArrowUp: value + stride,
      ArrowLeft: value - stride, ArrowDown: value - stride,
      PageUp: 2 ** (Math.floor(Math.log2(value)) + 1), PageDown: 2 ** (Math.ceil(Math.log2(value)) - 1),
      Home: low, End: high,
    }[event.key]
    if (target === undefined) return
    event.preventDefault()
    this.move(this.snap(target), false)
  }

  hold(held) {
    if (held === this.held || this.data.disabled) return
    this.held = held
    page.held += held ? 1 : -1
    if (!held && this.sent.dragging) this.release()
  }

  release() {
    if (this.held) this.hold(false)
    if (this.sent.dragging || this.next) this.move(this.value, false, true)
  }

  move(value, dragging, force = false) {
    if (value === this.value && !force) return
    this.value = value
    this.show()
    this.next = { value, dragging }
    this.flush()
  }

  // Whether the charts don't keep up with a series.
  loses() {
    return page.charts > 0 && this.series >= TRIAL && page.frames - this.mark < this.series / 2
  }

  // After a series: if the charts did not keep up with it, wait for each run for a while.
  pace() {
    if (this.loses()) this.patience = 12
    else if (this.patience > 0) this.patience--
    this.longest = this.patience > 0 ? 0 : SERIES
    this.series = 0
    this.mark = page.frames
  }

  // Ask for a run with the newest value. Asked while the page is still running, it cuts that run short,
  // and what is drawn after the slider may never appear. So a question waits for the end of the run,
  // but for short series that run ahead, as long as charts get their frames all the same.
  flush(urgent = false) {
    if (!this.next) return
    const open = this.sent.seq - this.answered
    const ahead = this.series < this.longest && !this.loses()
    if (!urgent && (ahead ? open > 1 : open > 0 || isRunning())) {
      whenIdle(this.retry)
      this.impatience ??= setTimeout(() => this.flush(true), PATIENCE)
      return
    }
    clearTimeout(this.impatience)
    this.impatience = null
    if (ahead) this.series++
    else this.pace()
    this.sent = { seq: this.sent.seq + 1, ...this.next }
    this.next = null
    this.send("at", this.sent)
  }
}

export default ({ parentElement, data, setStateValue }) => {
  if (!sliders.has(parentElement)) sliders.set(parentElement, new Slider(parentElement))
  const slider = sliders.get(parentElement)
  slider.receive(data, setStateValue)
  return () => {
    if (!parentElement.host.isConnected) slider.hold(false)
  }
}
