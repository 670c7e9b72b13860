/** Folds stack frames outside of the application (pure). */
import type { FrameOrigin, StackFrame, StackPart } from './stack.js'

export interface FoldedFrames {
  readonly kind: 'folded'
  /** `12 frames in express, qs`, `3 frames in Node`. */
  readonly text: string
  readonly frames: readonly StackFrame[]
}

export type StackItem = StackPart['items'][number]

/** Replaces adjacent frames outside of the application by one item. */
export function foldFrames(items: readonly StackItem[]): readonly (StackItem | FoldedFrames)[] {
  const folded: (StackItem | FoldedFrames)[] = []
  let run: StackFrame[] = []
  const close = () => {
    if (run.length > 0) folded.push({ kind: 'folded', text: describe(run), frames: run })
    run = []
  }
  for (const item of items) {
    if (item.kind === 'frame' && item.origin !== 'own') {
      run.push(item)
      continue
    }
    close()
    folded.push(item)
  }
  close()
  return folded
}

const MAX_NAMES = 3

function describe(frames: readonly StackFrame[]): string {
  const names = [...new Set(frames.map(nameOf))]
  const shown = names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names
  return `${frames.length} ${frames.length === 1 ? 'frame' : 'frames'} in ${shown.join(', ')}`
}

function nameOf({ origin, packageName, file }: StackFrame): string {
  if (packageName !== null) return packageName
  return origin === 'runtime' && file.startsWith('node:') ? 'Node' : 'the runtime'
}

/** Splits a path into the directory, which is shown paler, and the file name. */
export function splitFile(file: string): { directory: string; name: string } {
  const at = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1
  return { directory: file.slice(0, at), name: file.slice(at) }
}

/** Formats a location for editors: `/app/src/a.js:12:5`. */
export function formatLocation({ file, line, column }: StackFrame): string {
  return [file, line, column].filter((part) => part !== null).join(':')
}

export function countOrigin(parts: readonly StackPart[], origin: FrameOrigin): number {
  return parts.reduce(
    (sum, { items }) => sum + items.filter((one) => one.kind === 'frame' && one.origin === origin).length,
    0,
  )
}

/** Whether the first line of a stack repeats the error that is shown above it. */
export function isInTitle(title: string, type: string | undefined, message: string | undefined): boolean {
  const full = [type, message].filter((part) => part !== undefined && part !== '').join(': ')
  return title === '' || full.startsWith(title) || title === message || title === type
}
