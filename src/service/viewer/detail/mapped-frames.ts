/** Replaces compiled places in a stack by the original ones (pure). */
import type { SourcePosition } from '../../query/api-types.js'
import { formatLocation } from './frames.js'
import { readOrigin } from './stack.js'
import type { Stack, StackFrame } from './stack.js'

/** As the service; more frames keep their compiled place. */
const MAX_LOCATIONS = 100

/** Places of compiled files, for `POST /local/source-positions`. Frames of packages stay folded, and TypeScript is not compiled. */
export function listCompiled({ parts }: Stack): readonly string[] {
  const frames = parts.flatMap(({ items }) => items.filter((item) => item.kind === 'frame'))
  return [...new Set(frames.filter(isCompiled).map(formatLocation))].slice(0, MAX_LOCATIONS)
}

function isCompiled({ file, column, origin }: StackFrame): boolean {
  return origin === 'own' && column !== null && /^(?:\/|[a-z]:).*\.[cm]?js$/i.test(file)
}

/** @param originals by compiled place */
export function mapStack(stack: Stack, originals: ReadonlyMap<string, SourcePosition | null>): Stack {
  const parts = stack.parts.map(({ items, ...part }) => ({
    ...part,
    items: items.map((item) => {
      const original = item.kind === 'frame' ? originals.get(formatLocation(item)) : null
      if (item.kind !== 'frame' || original === undefined || original === null) return item
      const { name: _name, ...place } = original
      return { ...item, ...place, ...readOrigin(place.file), compiled: item }
    }),
  }))
  return { ...stack, parts }
}
