/** An entry on one line of a terminal. Pure. */
import type { StoredEntry } from '../service/index.js'
import { printable } from './printable.js'

const MAX_MESSAGE_CHARS = 500
const LEVEL_WIDTH = 5

/** `12:04:31.250 error checkout payment failed (TypeError: card declined)`, the time in UTC. */
export function liveLine({ entry }: StoredEntry): string {
  const { level, timestamp, service = '-', message, error } = entry
  const time = /T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(timestamp)?.[1] ?? timestamp
  const what = [error?.type, error?.message].filter((text) => text !== undefined && text !== message).join(': ')
  return `${time.padEnd(12)} ${level.padEnd(LEVEL_WIDTH)} ${shown(service)} ${shown(message)}${what === '' ? '' : ` (${shown(what)})`}\n`
}

function shown(text: string): string {
  return printable(text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS - 1)}…`)
}
