// Files one packed array or figure under its chart and name. Draws nothing. See plot.py.
import { buffers, header, page, slot } from "./packet.js"

export default ({ parentElement, data }) => {
  const head = header(data)
  const { parts, wake } = slot(head.plot)
  if (parts.get(head.name)?.id !== head.id) {
    const [cells] = buffers(data, head)
    parts.set(head.name, { ...head, cells })
    wake?.()
  }
  return () => {
    // Streamlit also calls this when a newer run overtakes a slow one.
    if (parentElement.isConnected || parts.get(head.name)?.id !== head.id) return
    parts.delete(head.name)
    if (!parts.size) page.plots.delete(head.plot)
  }
}
