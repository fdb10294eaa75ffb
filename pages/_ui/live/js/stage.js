// What surrounds a page: large type on a projector, and an outline around the one thing to look at.
// See stage.py.

// Streamlit's colours of code are too faint to read on either ground: half of each is the text's own.
const CODE = Object.entries({
  ".string": "#09ab3b", ".keyword, .builtin": "#1c83e1", ".operator": "#ed6f13", ".comment, .punctuation": "#808495",
  ".number, .boolean": "#29b09d", ".function, .class-name, .decorator": "#803df5",
}).map(([kinds, colour]) => `[data-testid=stCode] .token:is(${kinds}) {
  color: color-mix(in srgb, currentColor 55%, ${colour}) !important }`).join("\n")

const CSS = `
[data-pointed] { outline: 3px dashed var(--st-primary-color); outline-offset: 5px; border-radius: 2px }
.stage { color: var(--st-text-color); font: .875rem var(--st-font) }
.stage button { min-height: 2.25rem; padding: 0 .7rem; font: inherit; cursor: pointer; color: inherit;
  background: none; border: 3px dashed var(--st-primary-color); border-radius: var(--st-button-radius) }
.stage button[hidden] { display: none }
.stage button:focus-visible { outline: 2px solid var(--st-text-color); outline-offset: 2px }
.stage [role=status] { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
html:not([data-present]) [data-testid=stHeader] ~ [data-testid=stMain] [data-testid=stMainBlockContainer] { padding-top: 4.5rem }
${CODE}
.st-key-code img { height: min(70vh, 85vw); width: auto !important }
html[data-present] { font-size: clamp(16px, min(1.75vw, 2.4vh), 28px) }
html[data-present] [data-testid=stElementContainer]:has(> [data-testid=stSelectbox]) { min-width: 7.5rem }
html[data-present] [data-testid=stMain] :is([data-testid=stVerticalBlock], [data-testid=stHorizontalBlock]) { gap: .35rem .5rem }
html[data-present] .st-key-lesson { padding: .5rem .75rem }
html[data-present] .st-key-lesson p { line-height: 1.3 }
@media (min-width: 900px) {
  html[data-present] .st-key-lesson { display: grid; grid-template-columns: 1fr auto; gap: .25rem 1rem }
  html[data-present] .st-key-lesson > :first-child { grid-area: 1 / 2; width: auto }
  html[data-present] .st-key-lesson > :first-child [data-testid=stMarkdown] { display: none }
  html[data-present] .st-key-lesson > :nth-child(2) { grid-area: 1 / 1 }
  html[data-present] .st-key-lesson > :nth-child(n + 3) { grid-column: 1 / -1 }
}
html[data-present] [data-testid=stHorizontalBlock] :is([data-testid=stLayoutWrapper],
  [data-testid=stVerticalBlock], [data-testid=stElementContainer]):has(h3) { min-width: max-content }
html[data-present] [data-testid=stHorizontalBlock] h3 { white-space: nowrap }
html[data-present] [data-testid=stHeader] { display: none }
html[data-present] [data-testid=stMainBlockContainer] { padding: .5rem 1rem }
html[data-present] [data-testid=stMain] :is([data-testid=stCaptionContainer], [data-testid=stExpander],
    [data-testid=stDownloadButton], .live-plot-notes > *, [data-testid=stMarkdown]:not(:has(h3)), 
    [class*=st-key-]:is([class$=-code], [class*="-code "], [class$=-take], [class*="-take "], [class$=-report], [class*="-report "]))
  :not(.st-key-lesson *, .st-key-footer *, [data-pointed], [data-pointed] *, :has([data-pointed])) { display: none }
`.replace("\n  :not", ":not")

const CLICKER = { PageDown: "n", PageUp: "b" }
const FREE = /^(radio|checkbox|range|button|submit|file)$/
const stages = new WeakMap()

class Stage {
  constructor(root) {
    root.innerHTML = `<div class="stage"><style>${CSS}</style><button type="button" hidden></button>
      <div role="status"></div></div>`
    this.button = root.querySelector("button")
    this.status = root.querySelector("[role=status]")
    this.button.onclick = () => this.show()
    this.watching = new MutationObserver(() => {
      this.waiting ??= requestAnimationFrame(() => this.mark())
    })
    this.watching.observe(document.body, { childList: true, subtree: true })
    this.onkey = (event) => this.key(event)
    addEventListener("keydown", this.onkey, true)
  }

  receive(data) {
    const html = document.documentElement
    if (html.hasAttribute("data-present") !== data.present) {
      html.toggleAttribute("data-present", data.present)
      dispatchEvent(new Event("resize"))
    }
    this.data = data
    this.button.textContent = data.look
    if (this.status.textContent !== data.say) this.status.textContent = data.say
    this.mark()
  }

  // The page builds its elements anew now and then: the mark goes to the one that is there.
  mark() {
    this.waiting = null
    const there = this.data.point ? document.querySelector(this.data.point) : null
    for (const old of document.querySelectorAll("[data-pointed]"))
      if (old !== there) old.removeAttribute("data-pointed")
    if (there && !there.hasAttribute("data-pointed")) there.setAttribute("data-pointed", "")
    // A box of code that must be scrolled can be, by keyboard as well.
    for (const code of document.querySelectorAll("[data-testid=stCode] pre:not([tabindex])")) code.tabIndex = 0
    this.button.hidden = !there
    this.there = there
  }

  show() {
    this.there.scrollIntoView({ block: "nearest" })
    const control = "input, button, select, textarea, [tabindex]"
    const host = [...this.there.querySelectorAll("*")].find((node) => node.shadowRoot)
    const target = (host?.shadowRoot ?? this.there).querySelector(control)
    if (target && !this.there.matches(".live-plot")) return target.focus()
    this.there.tabIndex = -1
    this.there.focus({ preventScroll: true })
  }

  // Streamlit's own shortcuts stop at a radio button or inside a slider, and a clicker sends Page keys.
  key(event) {
    const [deep] = event.composedPath()
    const button = this.data?.keys[CLICKER[event.key] ?? event.key]
    const typing = deep.matches?.("select, textarea, [contenteditable], input") && !FREE.test(deep.type)
    const scrolls = event.key in CLICKER && deep.type === "range"
    if (!button || typing || scrolls || event.ctrlKey || event.altKey || event.metaKey) return
    const there = document.querySelector(`${button} button`)
    if (!there) return
    event.preventDefault()
    event.stopPropagation()
    if (!event.repeat) there.click()
  }

  destroy() {
    this.watching.disconnect()
    cancelAnimationFrame(this.waiting)
    removeEventListener("keydown", this.onkey, true)
    document.documentElement.removeAttribute("data-present")
    for (const old of document.querySelectorAll("[data-pointed]")) old.removeAttribute("data-pointed")
  }
}

export default ({ parentElement, data }) => {
  if (!stages.has(parentElement)) stages.set(parentElement, new Stage(parentElement))
  stages.get(parentElement).receive(data)
  return () => {
    if (parentElement.isConnected) return
    stages.get(parentElement)?.destroy()
    stages.delete(parentElement)
  }
}
