/** Provides a parsed stack, whose places are the original ones as soon as the service has found them. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { SourcePosition } from '../../query/api-types.js'
import { post } from '../api.js'
import { listCompiled, mapStack } from './mapped-frames.js'
import { parseStack } from './stack.js'
import type { Stack } from './stack.js'

export function useMappedStack(text: string): Stack {
  const parsed = useMemo(() => parseStack(text), [text])
  const [mapped, setMapped] = useState({ from: parsed, to: parsed })
  useEffect(() => {
    const at = listCompiled(parsed)
    if (at.length === 0) return undefined
    const controller = new AbortController()
    post<{ readonly items: readonly (SourcePosition | null)[] }>('source-positions', { at }, controller.signal).then(
      ({ items }) => {
        const originals = new Map(at.map((place, index) => [place, items[index] ?? null]))
        setMapped({ from: parsed, to: mapStack(parsed, originals) })
      },
      () => {
        // The compiled places stay. The header shows that the service is unreachable.
      },
    )
    return () => controller.abort()
  }, [parsed])
  return mapped.from === parsed ? mapped.to : parsed
}
