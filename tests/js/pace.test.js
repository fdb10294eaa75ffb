// How often a slider asks while it moves.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Pace } from "../../pages/_ui/live/js/pace.js"

const busy = () => true
const idle = () => false

/** Ask as long as one may, answered at once, and with so many frames for a question. */
function series(pace, shared, framesEach) {
  let asked = 0
  while (pace.mayAsk(0, busy) && asked < 1000) {
    pace.ask()
    shared.frames += framesEach
    asked++
  }
  return asked
}

test("the first question waits until the page is idle and all is answered", () => {
  const pace = new Pace({ charts: 1, frames: 0 })
  assert.equal(pace.mayAsk(0, busy), false)
  assert.equal(pace.mayAsk(1, idle), false)
  assert.equal(pace.mayAsk(0, idle), true)
})

test("then a series runs ahead of the page by one question, and ends", () => {
  const shared = { charts: 1, frames: 0 }
  const pace = new Pace(shared)
  pace.ask()
  assert.equal(pace.mayAsk(1, busy), true)
  assert.equal(pace.mayAsk(2, idle), false)
  assert.equal(series(pace, shared, 1), 24)
  assert.equal(pace.mayAsk(0, idle), true)
})

test("a series that brings the charts no frames is given up, and waiting follows", () => {
  const shared = { charts: 1, frames: 0 }
  const pace = new Pace(shared)
  pace.ask()
  assert.equal(series(pace, shared, 0), 6)
  pace.ask()
  for (let i = 0; i < 11; i++) {
    assert.equal(pace.mayAsk(0, busy), false)
    pace.ask()
  }
  pace.ask()
  assert.equal(pace.mayAsk(0, busy), true)
})

test("a page without charts has nothing to keep up with", () => {
  const shared = { charts: 0, frames: 0 }
  const pace = new Pace(shared)
  pace.ask()
  assert.equal(series(pace, shared, 0), 24)
})
