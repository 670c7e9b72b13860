/**
 * An entry's error below its type and message: properties, and the stack with its causes. It emphasizes the application's frames, and folds the
 * others into one line with their packages.
 */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { EntryError, JsonObject } from '../../../protocol/log-entry.js'
import type { SourcePosition } from '../../query/api-types.js'
import { post } from '../api.js'
import { createEditorHref } from '../editor.js'
import { editor } from '../settings.js'
import { useObservable } from '../use-observable.js'
import { Copy } from './notice.js'
import type { ErrorParts } from './error-parts.js'
import { toMetadataField } from './fact.js'
import { Fold } from './section.js'
import { LongText, Many } from './show-more.js'
import { foldFrames, formatLocation, isInTitle, listLocations, mapStack, parseStack } from './stack.js'
import type { FoldedFrames, Stack, StackFrame, StackItem, StackPart } from './stack.js'
import type { Path } from './tree.js'
import { InlineValues, ValueMenu } from './value-menu.js'

interface ErrorPartProps extends Pick<ErrorParts, 'properties'> {
  readonly error: EntryError
  readonly id: string
}

export function ErrorPart({ error, id, properties }: ErrorPartProps) {
  const { type, message, stack = '' } = error
  const { parts, isCut } = useMappedStack(stack, id)
  const [isRaw, setRaw] = useState(false)
  const hasOwn = parts.some(({ items }) => items.some((item) => item.kind === 'frame' && item.origin === 'own'))
  return (
    <div class="stack">
      {isRaw ? (
        <LongText class="mono" text={stack} maxChars={10_000} maxLines={200} />
      ) : (
        <Many items={parts} step={10} noun="errors">
          {(shown) =>
            shown.map((part, index) => (
              <Part
                key={index}
                part={part}
                hasTitle={index > 0 || !isInTitle(part.title, type, message)}
                properties={properties[index] ?? {}}
                path={['error', ...Array<string>(index).fill('cause')]}
                opensAll={!hasOwn}
              />
            ))
          }
        </Many>
      )}
      {!isRaw && isCut && <p class="hint">More lines are in the raw stack.</p>}
      <div class="toolbar more">
        <Copy label="Copy stack" text={() => stack} />
        <button type="button" class="button small" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </button>
      </div>
    </div>
  )
}

/** Parses the stack. Its places are the original ones as soon as the service has found them. */
function useMappedStack(text: string, entry: string): Stack {
  const parsed = useMemo(() => parseStack(text), [text])
  const [mapped, setMapped] = useState({ from: parsed, to: parsed })
  useEffect(() => {
    const at = listLocations(parsed)
    if (at.length === 0) return undefined
    const controller = new AbortController()
    const body = { at, entry }
    post<{ readonly items: readonly (SourcePosition | null)[] }>('source-positions', body, controller.signal).then(
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

interface PartProps {
  readonly part: StackPart
  readonly hasTitle: boolean
  readonly properties: JsonObject
  /** Path of the properties in the entry, for their menus. */
  readonly path: Path
  readonly opensAll: boolean
}

function Part({ part, hasTitle, properties, path, opensAll }: PartProps) {
  const items = useMemo(() => foldFrames(part.items), [part])
  return (
    <div class="stack-part">
      {part.label !== null && <span class="chip">{part.label}</span>}
      {hasTitle && part.title !== '' && <LongText class="stack-title" text={part.title} />}
      <InlineValues values={properties} field={(key) => toMetadataField([...path, key])} />
      <Frames items={items} opensAll={opensAll} />
    </div>
  )
}

function Frames({
  items,
  opensAll = false,
}: {
  readonly items: readonly (StackItem | FoldedFrames)[]
  readonly opensAll?: boolean
}) {
  return (
    <Many items={items} step={40} noun="frames">
      {(shown) => (
        <ol class="frames">
          {shown.map((item, index) =>
            item.kind === 'frame' ? (
              <Frame key={index} frame={item} />
            ) : (
              <li key={index}>
                {item.kind === 'text' ? (
                  item.text
                ) : (
                  <Fold summary={item.text} isOpen={opensAll}>
                    {() => <Frames items={item.frames} />}
                  </Fold>
                )}
              </li>
            ),
          )}
        </ol>
      )}
    </Many>
  )
}

function Frame({ frame }: { readonly frame: StackFrame }) {
  const name = useObservable(editor)
  // Null if the file is no path.
  const href = createEditorHref(frame, name)
  const compiled = frame.compiled === undefined ? '' : `, compiled ${formatLocation(frame.compiled)}`
  const file = frame.file.replace(/^.*[\\/]/, '')
  const place = frame.line === null ? '' : `:${frame.line}${frame.column === null ? '' : `:${frame.column}`}`
  return (
    <li class={`frame ${frame.origin}`}>
      <span class="fn">
        {frame.isAsync && 'async '}
        {frame.fn ?? '(anonymous)'}
      </span>{' '}
      <a
        {...(href !== null && { href })}
        title={`${formatLocation(frame)}${compiled}${href === null ? '' : `. Open in ${name}`}`}
      >
        {frame.file}
        <b>{place}</b>
      </a>
      {frame.origin === 'own' && (
        <ValueMenu
          name={`${file}${place}`}
          field="error.stack"
          value={(frame.compiled ?? frame).file}
          text={() => formatLocation(frame)}
        />
      )}
      {frame.lines !== undefined && (
        <pre class="source" tabIndex={0} aria-label="Source">
          {frame.lines.text.map((text, index) => {
            const number = (frame.lines?.start ?? 1) + index
            const line = `${String(number).padStart(5)}  ${text}\n`
            return number === frame.line ? <b key={number}>{line}</b> : line
          })}
        </pre>
      )}
    </li>
  )
}
