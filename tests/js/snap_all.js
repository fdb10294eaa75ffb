// Reads cases on standard input and writes what each snaps to: for a test in Python.
import { text } from "node:stream/consumers"
import { snap } from "../../pages/_ui/live/js/steps.js"

const cases = JSON.parse(await text(process.stdin))
process.stdout.write(JSON.stringify(cases.map(({ value, ...scale }) => snap(value, scale))))
