// The values that a slider may have, and its positions. `snap` in slider.py is the same in Python.

// A logarithmic slider has so many positions.
export const LOG_POSITIONS = 1000

/** How many decimals a number is written with, at most 12.
 * @param {number} value */
const decimals = (value) =>
  (
    value
      .toFixed(12)
      .replace(/\.?0+$/, "")
      .split(".")[1] ?? ""
  ).length

/** The nearest multiple of `step` from `low`, within the range.
 * @param {number} value
 * @param {Pick<Scale, "low" | "high" | "step">} scale */
export function snap(value, { low, high, step }) {
  const steps = Math.round((Math.min(Math.max(value, low), high) - low) / step)
  // low + 3 · 0.1 is 0.30000000000000004; say 0.3
  const shown = Math.max(...[low, high, step].map(decimals))
  return +Math.min(low + steps * step, high).toFixed(shown)
}

/** @param {number} position
 * @param {Scale} scale */
export function fromPosition(position, scale) {
  const { low, high, log } = scale
  return snap(log ? low * (high / low) ** (position / LOG_POSITIONS) : position, scale)
}

/** @param {number} value
 * @param {Scale} scale */
export function toPosition(value, { low, high, log }) {
  if (!log) return value
  return Math.round((LOG_POSITIONS * Math.log(value / low)) / Math.log(high / low))
}

/** Where a key takes a logarithmic slider, on which a position is not a value: arrows go 5 % or a
 * step, Page keys to powers of 2. undefined for any other key.
 * @param {string} key
 * @param {number} value
 * @param {Scale} scale
 * @returns {number | undefined} */
export function afterKey(key, value, scale) {
  const { low, high, step } = scale
  const stride = Math.max(step, value * 0.05)
  /** @type {Record<string, number>} */
  const targets = {
    ArrowRight: value + stride,
    ArrowUp: value + stride,
    ArrowLeft: value - stride,
    ArrowDown: value - stride,
    PageUp: 2 ** (Math.floor(Math.log2(value)) + 1),
    PageDown: 2 ** (Math.ceil(Math.log2(value)) - 1),
    Home: low,
    End: high,
  }
  return Object.hasOwn(targets, key) ? snap(targets[key], scale) : undefined
}
