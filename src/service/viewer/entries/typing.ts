/** Whether the user is typing a query: an empty result may then be that of half a word. */
import { Observable } from '../observable.js'

/** Time without a key after which the query is complete. */
const PAUSE_MS = 1_200

export const typing = new Observable(false)
let timer: ReturnType<typeof setTimeout> | undefined

export function setTyping(isTyping: boolean): void {
  clearTimeout(timer)
  typing.set(isTyping)
  if (isTyping) timer = setTimeout(() => typing.set(false), PAUSE_MS)
}
