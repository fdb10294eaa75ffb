// What surrounds a page: large type on a projector, and an outline around the one thing to look at.
// See stage.py.
import STAGE from "./stage.css"
import STREAMLIT from "./streamlit.css"
import {
  blockOf,
  bringBelow,
  controlIn,
  isMounted,
  letCodeScroll,
  oneEntryASwitch,
  theme,
} from "./streamlit.js"

const DONE = "posembed.done" // in this browser's storage: names with spaces between
const FREE = /^(radio|checkbox|range|button|submit|file)$/
// By these a visitor begins to move the page.
const BY_HAND = ["wheel", "touchstart", "pointerdown", "keydown"]
/** @type {WeakMap<HTMLElement | ShadowRoot, Stage>} */
const stages = new WeakMap()
oneEntryASwitch()

/** Keep a name in this browser; all that are kept.
 * @param {string} name */
function keep(name) {
  try {
    const names = new Set((localStorage.getItem(DONE) ?? "").split(" ").filter(Boolean))
    if (name) localStorage.setItem(DONE, [...names.add(name)].join(" "))
    return [...names].join(" ")
  } catch {
    return name // a browser that keeps nothing
  }
}

class Stage {
  /** What is outlined.
   * @type {HTMLElement | null} */
  pointed = null
  /** @type {number | null} */
  waiting = null
  // Whether what is outlined is to be brought into sight: until a visitor moves the page.
  seeking = false

  /** @param {HTMLElement | ShadowRoot} root
   * @param {StageData} data */
  constructor(root, data) {
    this.data = data
    const box = document.createElement("div")
    box.className = "stage"
    box.innerHTML = `<style>${STAGE}${STREAMLIT}</style><style></style>
      <button type="button" hidden></button>
      <div role="status"></div>`
    root.replaceChildren(box)
    const [, style, button, status] = box.children
    this.style = style
    this.button = /** @type {HTMLButtonElement} */ (button)
    this.status = status
    this.button.onclick = () => this.show()
    this.box = box
    const soon = () => {
      this.waiting ??= requestAnimationFrame(() => this.mark())
    }
    this.watching = new MutationObserver(soon)
    this.watching.observe(document.body, { childList: true, subtree: true })
    // A chart gets its height after it is there.
    this.growing = new ResizeObserver(soon)
    this.onhand = () => {
      this.seeking = false
    }
    for (const name of BY_HAND) addEventListener(name, this.onhand, true)
    this.onkey = (/** @type {KeyboardEvent} */ event) => this.key(event)
    addEventListener("keydown", this.onkey, true)
  }

  /** @param {StageData} data */
  receive(data) {
    const html = document.documentElement
    // Before the page learns of its new width.
    if (this.style.textContent !== data.style) this.style.textContent = data.style
    if (html.hasAttribute("data-present") !== data.present) {
      html.toggleAttribute("data-present", data.present)
      dispatchEvent(new Event("resize"))
    }
    const [pointer, ground] = theme(this.box, "primary-color", "background-color")
    html.style.setProperty("--pointer", pointer)
    html.style.setProperty("--ground", ground)
    html.setAttribute("data-done", keep(data.done))
    this.data = data
    this.button.textContent = data.look
    if (this.status.textContent !== data.say) {
      this.status.textContent = data.say
      this.seeking = Boolean(data.point)
      if (data.say) bringBelow(null, data.below)
    }
    this.mark()
  }

  // The page builds its elements anew now and then: the mark goes to the one that is in it now.
  mark() {
    const { point } = this.data
    this.waiting = null
    const before = this.pointed
    this.pointed = point ? document.querySelector(point) : null
    if (this.pointed && this.pointed !== before) {
      this.growing.disconnect()
      this.growing.observe(this.pointed)
      const page = blockOf(this.pointed)
      if (page) this.growing.observe(page)
      const lid = this.data.below && document.querySelector(this.data.below)
      if (lid) this.growing.observe(lid)
    }
    for (const old of document.querySelectorAll("[data-pointed]"))
      if (old !== this.pointed) old.removeAttribute("data-pointed")
    if (!this.pointed?.hasAttribute("data-pointed")) this.pointed?.setAttribute("data-pointed", "")
    letCodeScroll()
    this.button.hidden = !this.pointed
    if (this.seeking && this.pointed) bringBelow(this.pointed, this.data.below)
  }

  // Go to what is outlined.
  show() {
    const { pointed } = this
    if (!pointed) return
    bringBelow(pointed, this.data.below)
    const control = controlIn(pointed)
    if (control && !pointed.matches(".live-plot")) return control.focus({ preventScroll: true })
    pointed.tabIndex = -1
    pointed.focus({ preventScroll: true })
  }

  /** Streamlit's own shortcuts stop at a radio button or inside a slider.
   * @param {KeyboardEvent} event */
  key(event) {
    const [target] = event.composedPath()
    const field = target instanceof HTMLInputElement ? target : null
    const typing =
      target instanceof Element &&
      target.matches("select, textarea, [contenteditable], input") &&
      !FREE.test(field?.type ?? "")
    const moves = event.key.startsWith("Page") && field?.type === "range"
    const selector = this.data.keys[event.key]
    if (!selector || typing || moves || event.ctrlKey || event.altKey || event.metaKey) return
    /** @type {HTMLElement | null} */
    const button = document.querySelector(selector)
    if (!button) return
    event.preventDefault()
    event.stopPropagation()
    if (!event.repeat) button.click()
  }

  destroy() {
    this.watching.disconnect()
    this.growing.disconnect()
    for (const name of BY_HAND) removeEventListener(name, this.onhand, true)
    cancelAnimationFrame(this.waiting ?? 0)
    removeEventListener("keydown", this.onkey, true)
    document.documentElement.removeAttribute("data-present")
    for (const old of document.querySelectorAll("[data-pointed]"))
      old.removeAttribute("data-pointed")
  }
}

/** @param {Component<StageData>} component */
export default ({ parentElement, data }) => {
  const stage = stages.get(parentElement) ?? new Stage(parentElement, data)
  stages.set(parentElement, stage)
  stage.receive(data)
  return () => {
    if (isMounted(parentElement)) return
    stages.get(parentElement)?.destroy()
    stages.delete(parentElement)
  }
}
