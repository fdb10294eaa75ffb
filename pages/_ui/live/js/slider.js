// A range input and a number field that report while they move. See slider.py.
import { withMinusSigns } from "./numbers.js"
import { Pace, page } from "./pace.js"
import CSS from "./slider.css"
import { afterKey, fromPosition, LOG_POSITIONS, snap, toPosition } from "./steps.js"
import { isMounted, isRunning, keepOpaque, whenIdle } from "./streamlit.js"

/** @type {WeakMap<HTMLElement | ShadowRoot, Slider>} */
const sliders = new WeakMap()

const HTML = `
<div class="live">
  <label for="range"></label>
  <div class="way"
    ><input type="range" id="range"
    ><div class="ends" aria-hidden="true"><span></span><span></span></div
  ></div>
  <span class="number"
    ><span class="prefix"></span><input type="number"><span class="suffix"></span></span>
  <button type="button" class="help" popovertarget="help">?</button>
  <div id="help" popover></div>
</div>`

// Neither a lost answer nor a long run may silence the slider; ms.
const PATIENCE = 1000

/** What Python is told, and is to be told next.
 * @typedef {{ value: number, dragging: boolean }} Move
 * @typedef {Move & { seq: number }} Question */

class Slider {
  held = false
  answered = 0
  properties = ""
  /** @type {Move | null} */
  next = null
  /** Where a finger was put down, until it is known whether it scrolls the page or moves the slider.
   * @type {PointerEvent | null} */
  finger = null
  /** @type {number | null} */
  impatience = null
  /** @type {number | undefined} */
  shown
  pace = new Pace()

  /** @param {HTMLElement | ShadowRoot} root
   * @param {SliderData} data
   * @param {Component<SliderData>["setStateValue"]} send */
  constructor(root, data, send) {
    root.append(Object.assign(document.createElement("style"), { textContent: CSS }))
    root.append(document.createRange().createContextualFragment(HTML))
    const find = (/** @type {string} */ selector) =>
      /** @type {HTMLInputElement} */ (root.querySelector(selector))
    this.data = data
    this.send = send
    this.value = data.value
    /** @type {Question} */
    this.sent = { seq: data.seq, value: data.value, dragging: false }
    this.box = find(".live")
    keepOpaque(this.box)
    this.range = find("input[type=range]")
    this.field = find("input[type=number]")
    this.retry = () => this.flush()
    const { range, field } = this
    range.addEventListener("input", () => this.follow())
    range.addEventListener("change", () => this.release())
    range.addEventListener("pointerdown", (event) => {
      this.finger = event.pointerType === "touch" ? event : null
      this.hold(true)
    })
    range.addEventListener("pointermove", ({ clientX: x, clientY: y }) => {
      const { finger } = this
      if (finger && Math.abs(x - finger.clientX) > Math.abs(y - finger.clientY)) this.decide()
    })
    range.addEventListener("pointerup", () => {
      this.decide()
      this.hold(false)
    })
    range.addEventListener("pointercancel", () => {
      this.finger = null
      this.hold(false)
      this.show() // the page scrolls: the thumb goes back to where it was
    })
    const help = find("#help")
    help.addEventListener("beforetoggle", () => {
      const { left, top, bottom } = find("button.help").getBoundingClientRect()
      // On a phone sliders are at the bottom of the window.
      const isLow = bottom > 0.6 * innerHeight
      help.style.top = isLow ? "auto" : `${bottom + 4}px`
      help.style.bottom = isLow ? `${innerHeight - top + 4}px` : "auto"
      // No wider than 20 rem, see slider.css, and inside of the window.
      const room = innerWidth - 20 * parseFloat(getComputedStyle(document.documentElement).fontSize)
      help.style.left = `${Math.max(8, Math.min(left, room - 8))}px`
    })
    range.addEventListener("keydown", (event) => this.key(event))
    field.addEventListener("change", () => {
      const typed = field.valueAsNumber
      this.move(Number.isFinite(typed) ? snap(typed, this.data) : this.value, false)
      this.show()
      field.value = this.plain(this.value)
    })
  }

  // The thumb is where the reader wants it.
  follow() {
    if (this.finger) return
    this.move(fromPosition(+this.range.value, this.data), this.held)
  }

  // A finger moves the slider, or has tapped it.
  decide() {
    if (!this.finger) return
    this.finger = null
    this.follow()
  }

  /** New properties from Python. Older answers than our newest question don't move the control.
   * @param {SliderData} data
   * @param {Component<SliderData>["setStateValue"]} send */
  receive(data, send) {
    this.send = send
    const settled = data.seq >= this.sent.seq
    this.answered = Math.max(this.answered, data.seq)
    const properties = JSON.stringify({ ...data, value: 0, seq: 0 })
    const same = properties === this.properties
    this.properties = properties
    this.data = data
    if (!same) this.describe()
    if (settled) this.sent.seq = data.seq
    if (this.next) this.flush()
    else if (settled && !this.held) this.value = data.value
    if (!same || (settled && !this.held)) this.show()
  }

  describe() {
    const { data, box, range, field } = this
    const write = (/** @type {string} */ selector, /** @type {string} */ text) => {
      const element = /** @type {Element} */ (box.querySelector(selector))
      element.textContent = text
    }
    write("label", data.label)
    write(".prefix", data.prefix)
    write(".suffix", data.suffix)
    write(".ends span:first-child", this.written(data.low))
    write(".ends span:last-child", this.written(data.high))
    write("#help", data.help ?? "")
    const help = /** @type {HTMLElement} */ (box.querySelector("button.help"))
    help.hidden = !data.help
    help.setAttribute("aria-label", `About ${data.label}`)
    box.toggleAttribute("data-disabled", data.disabled)
    range.disabled = field.disabled = data.disabled
    range.setAttribute("aria-label", data.label)
    if (data.help) range.setAttribute("aria-description", data.help)
    field.setAttribute("aria-label", `${data.label}, number`)
    Object.assign(field, { min: data.low, max: data.high, step: data.step })
    Object.assign(
      range,
      data.log
        ? { min: 0, max: LOG_POSITIONS, step: 1 }
        : { min: data.low, max: data.high, step: data.step },
    )
    const digits = Math.max(this.plain(data.low).length, this.plain(data.high).length)
    box.style.setProperty("--digits", String(digits))
  }

  show() {
    const { data, range, field, value, box } = this
    const position = toPosition(value, data)
    if (+range.value !== position && !this.held) range.value = String(position)
    const share = (position - +range.min) / (+range.max - +range.min)
    // The thumb's centre travels between 8 px from either end.
    box.style.setProperty("--fill", `calc(8px + ${share} * (100% - 16px))`)
    range.setAttribute("aria-valuetext", `${data.prefix}${this.written(value)}${data.suffix}`)
    const root = /** @type {Document | ShadowRoot} */ (field.getRootNode())
    const editing = root.activeElement === field && field.value !== this.plain(this.shown)
    if (!editing || this.shown !== value) field.value = this.plain(value)
    this.shown = value
  }

  /** @param {number | undefined} value */
  plain(value) {
    return Number(value).toFixed(this.data.decimals)
  }

  /** The same with a true minus sign, which no field for numbers could read.
   * @param {number | undefined} value */
  written(value) {
    return withMinusSigns(this.plain(value))
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.data.log || event.ctrlKey || event.altKey || event.metaKey) return
    const target = afterKey(event.key, this.value, this.data)
    if (target === undefined) return
    event.preventDefault()
    this.move(target, false)
  }

  /** @param {boolean} held */
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

  /** @param {number} value
   * @param {boolean} dragging */
  move(value, dragging, force = false) {
    if (value === this.value && !force) return
    this.value = value
    this.show()
    this.next = { value, dragging }
    this.flush()
  }

  // Ask for a run with the newest value, as soon as one may be asked for.
  flush(urgent = false) {
    if (!this.next) return
    if (!urgent && !this.pace.mayAsk(this.sent.seq - this.answered, isRunning)) {
      whenIdle(this.retry)
      this.impatience ??= setTimeout(() => this.flush(true), PATIENCE)
      return
    }
    clearTimeout(this.impatience ?? undefined)
    this.impatience = null
    this.pace.ask()
    this.sent = { seq: this.sent.seq + 1, ...this.next }
    this.next = null
    this.send("at", this.sent)
  }
}

/** @param {Component<SliderData>} component */
export default ({ parentElement, data, setStateValue }) => {
  const slider = sliders.get(parentElement) ?? new Slider(parentElement, data, setStateValue)
  sliders.set(parentElement, slider)
  slider.receive(data, setStateValue)
  return () => {
    if (!isMounted(parentElement)) slider.hold(false)
  }
}
