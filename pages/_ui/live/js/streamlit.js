// All that these scripts assume about Streamlit: its elements, and how it mounts a component. An
// upgrade that changes them breaks this file and streamlit.css.

const THEME = ["text-color", "border-color", "background-color", "font"]

/** The values of the theme's variables for an element.
 * @param {Element} element
 * @param {string[]} names without "--st-" */
export function theme(element, ...names) {
  const style = getComputedStyle(element)
  return (names.length ? names : THEME).map((name) => style.getPropertyValue(`--st-${name}`).trim())
}

/** A text with the theme's values instead of its variables, as "var(--st-red-color)", and the light
 * theme's colour or the dark one's instead of both, as "var(--either-ffffff-000000)".
 * @param {string} text
 * @param {(name: string) => string} read gives a value by its name without "--st-"
 * @param {boolean} dark */
export const fillIn = (text, read, dark) =>
  text
    .replace(/var\(--st-([\w-]+)\)/g, (_, name) => read(name))
    .replace(/var\(--either-(\w{6})-(\w{6})\)/g, (_, light, night) => `#${dark ? night : light}`)

/** Whether the theme in use has a dark ground.
 * @param {Element} element */
export function isDark(element) {
  const [ground] = theme(element, "background-color")
  const digits = ground
    .match(/^#(..)(..)(..)/)
    ?.slice(1)
    .map((pair) => parseInt(pair, 16))
  const [red, green, blue] =
    digits ?? (ground.match(/[\d.]+/g) ?? ["255", "255", "255"]).map(Number)
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128
}

/** The theme's colour of a word in text, as CSS.
 * @param {string} colour as in Markdown: "blue" */
export const textColour = (colour) => `var(--st-${colour}-text-color)`

/** Streamlit fades what a run has not drawn anew yet, and for the wait before it makes a layer of
 * it in each run: 10 ms a frame for a chart.
 * @param {HTMLElement} element */
export function keepOpaque(element) {
  const root = element.getRootNode()
  const inPage = root instanceof ShadowRoot ? root.host : element
  /** @type {HTMLElement | null} */
  const container = inPage.closest("[data-testid=stElementContainer]")
  container?.style.setProperty("transition", "none", "important")
  container?.style.setProperty("opacity", "1", "important")
}

/** Whether a component's root is still in the page: Streamlit also cleans up when a newer run
 * overtakes a slow one.
 * @param {HTMLElement | ShadowRoot} parent */
export const isMounted = (parent) =>
  (parent instanceof ShadowRoot ? parent.host : parent).isConnected

// Streamlit's root element says what the script is doing.
/** @returns {HTMLElement | null} */
const app = () => document.querySelector("[data-test-script-state]")

export const isRunning = () =>
  ["running", "rerunRequested"].includes(app()?.dataset.testScriptState ?? "")

/** @type {Set<() => void>} */
const idlers = new Set()
/** @type {MutationObserver | null} */
let watching = null

/** Act once, when the script has come to its end.
 * @param {() => void} action */
export function whenIdle(action) {
  idlers.add(action)
  const root = app()
  if (!root) return
  watching ??= new MutationObserver(() => {
    if (isRunning()) return
    const due = [...idlers]
    idlers.clear()
    for (const act of due) act()
  })
  watching.observe(root, { attributeFilter: ["data-test-script-state"] })
}

const main = () => document.querySelector("[data-testid=stMain]")

/** What grows with the page's elements. @param {Element} element one of them */
export const blockOf = (element) => element.closest("[data-testid=stMainBlockContainer]")

/** Scroll the page no further than it takes to see all of an element, or its top where it is too
 * high, below another that stays on top; to the page's own top where there is none.
 * @param {Element | null} element
 * @param {string} above its CSS selector */
export function bringBelow(element, above) {
  const page = main()
  if (!page) return
  if (!element) {
    page.scrollTop = 0
    return
  }
  const EDGE = 9 // the outline's place
  const lid = above && document.querySelector(above)
  const sticks = lid && getComputedStyle(lid).position === "sticky" && !lid.contains(element)
  // What sticks moves up as well, until it does.
  for (let times = 0; times < 3; times++) {
    const { top, bottom } = element.getBoundingClientRect()
    const ceiling = (sticks ? lid.getBoundingClientRect().bottom : headerBottom()) + EDGE
    if (bottom > innerHeight - EDGE)
      page.scrollTop += Math.min(bottom - innerHeight + EDGE, top - ceiling)
    else if (top < ceiling) page.scrollTop -= ceiling - top
  }
}

const headerBottom = () =>
  document.querySelector("[data-testid=stHeader]")?.getBoundingClientRect().bottom ?? 0

// What a visitor does.
const ACTS = ["pointerdown", "click", "keydown", "input", "wheel", "popstate"]

/** One act of a visitor that leads to another page is one entry of the history. Streamlit makes two
 * of it: for a switch from one page to another the settings on the old page, then the new page; for
 * its menu the new page, then the settings that this page was left with.
 */
export function oneEntryASwitch() {
  const { pushState } = history
  if (pushState.name === "pushOnce") return
  /** What changed last since the visitor's last act.
   * @type {"page" | "settings" | null} */
  let before = null
  const begin = () => {
    before = null
  }
  for (const act of ACTS) addEventListener(act, begin, true)
  /** @type {History["pushState"]} */
  history.pushState = function pushOnce(state, title, url) {
    const { pathname, search } = new URL(url ?? "", location.href)
    const change = pathname === location.pathname ? "settings" : "page"
    const switches = change === "page" && before === "settings" && search === location.search
    const fills = change === "settings" && before === "page"
    before = change
    if (switches || fills) history.replaceState(state, title, url)
    else pushState.call(history, state, title, url)
  }
}

/** How far the page is scrolled, in CSS pixels. */
export const scrolled = () => main()?.scrollTop ?? 0

/** A box of code that must be scrolled can be, by keyboard as well. */
export function letCodeScroll() {
  /** @type {NodeListOf<HTMLElement>} */
  const boxes = document.querySelectorAll("[data-testid=stCode] pre:not([tabindex])")
  for (const box of boxes) box.tabIndex = 0
}

/** The first control in an element, also one of a component that has its styles to itself.
 * @param {Element} element
 * @returns {HTMLElement | null} */
export function controlIn(element) {
  const host = [...element.querySelectorAll("*")].find((node) => node.shadowRoot)
  const root = host?.shadowRoot ?? element
  return root.querySelector("input, button, select, textarea, [tabindex]")
}
