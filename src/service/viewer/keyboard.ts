/** Maps keys to commands (pure). No commands during text input or with Ctrl, Meta or Alt. */
import { VIEWS } from './view.js'

export type Command =
  | 'next'
  | 'previous'
  | 'open'
  | 'close'
  | 'search'
  | 'pause'
  | 'top'
  | 'help'
  | 'copy-json'
  | 'copy-address'
  | `view-${number}`

export interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

/** Location of the focus: in a text field, on a control with its own keys, or elsewhere. */
export type KeyContext = 'field' | 'control' | 'page'

const EVERYWHERE: Readonly<Record<string, Command>> = {
  j: 'next',
  k: 'previous',
  '/': 'search',
  p: 'pause',
  t: 'top',
  c: 'copy-json',
  l: 'copy-address',
  '?': 'help',
  Escape: 'close',
}

/** Keys that a focused button, link or scroll area handles itself. */
const ON_THE_PAGE: Readonly<Record<string, Command>> = {
  ArrowDown: 'next',
  ArrowUp: 'previous',
  Enter: 'open',
  Home: 'top',
}

export function findCommand({ key, ctrlKey, metaKey, altKey }: KeyPress, place: KeyContext): Command | undefined {
  if (ctrlKey || metaKey || altKey || place === 'field') return undefined
  if (place === 'page' && Object.hasOwn(ON_THE_PAGE, key)) return ON_THE_PAGE[key]
  if (Object.hasOwn(EVERYWHERE, key)) return EVERYWHERE[key]
  return /^[1-9]$/.test(key) && Number(key) <= VIEWS.length ? `view-${Number(key)}` : undefined
}

/** Texts of the help, in the usual order of use. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['j', '↓'], 'Next entry'],
  [['k', '↑'], 'Previous entry'],
  [['Enter'], 'Open the entry, and focus it'],
  [['Esc'], 'Close the detail, release the list, zoom out'],
  [['c'], 'Copy the open entry as JSON'],
  [['l'], 'Copy the address, with the query and the open entry'],
  [['/'], 'Search'],
  [['p'], 'Pause and resume the live tail'],
  [['t'], 'To the newest entry'],
  [['1', '…', String(VIEWS.length)], 'Go to a view'],
  [['?'], 'This help'],
]
