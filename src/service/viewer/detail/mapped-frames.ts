/** Replaces compiled places in a stack by the original ones (pure). */
import type { SourcePosition } from '../../query/api-types.js'
import { formatLocation } from './frames.js'
import type { StackItem } from './frames.js'
import { readOrigin } from './stack.js'
import type { Stack, StackFrame } from './stack.js'

/** As the service; more frames keep their compiled place. */
const MAX_LOCATIONS = 100

/** Other names are readable, and more reliable than those of the map. */
const MINIFIED = /^[\w$]{1,3}$/

/** Places of compiled files, for `POST /local/source-positions`. Frames of packages stay folded, and TypeScript is not compiled. */
export function listCompiled({ parts }: Stack): readonly string[] {
  const frames = parts.flatMap(({ items }) => items.filter((item) => item.kind === 'frame'))
  return [...new Set(frames.filter(isCompiled).map(formatLocation))].slice(0, MAX_LOCATIONS)
}

function isCompiled({ file, column, origin }: StackFrame): boolean {
  return origin === 'own' && column !== null && /^(?:\/|[a-z]:).*\.[cm]?js$/i.test(file)
}

export type Originals = ReadonlyMap<string, SourcePosition | null>

/** @param originals by compiled place */
export function mapStack(stack: Stack, originals: Originals): Stack {
  const parts = stack.parts.map(({ items, ...part }) => ({
    ...part,
    items: items.map((item, at) => (item.kind === 'frame' ? mapFrame(item, items[at + 1], originals) : item)),
  }))
  return { ...stack, parts }
}

function mapFrame(frame: StackFrame, caller: StackItem | undefined, originals: Originals) {
  const compiledPlace = formatLocation(frame)
  const original = originals.get(compiledPlace)
  if (original === undefined || original === null) return frame
  const { name: _name, ...place } = original
  const fn = findName(frame, caller, originals) ?? frame.fn
  return { ...frame, ...place, ...readOrigin(place.file), fn, compiledPlace }
}

/** The map has a function's original name at the place of its call, in the next frame: also `call` for `f.call()`. */
function findName({ fn, file }: StackFrame, caller: StackItem | undefined, originals: Originals) {
  const isCalled = caller?.kind === 'frame' && !caller.isAsync && caller.file === file
  return isCalled && MINIFIED.test(fn ?? '') ? originals.get(formatLocation(caller))?.name : undefined
}
