/** A stack. It emphasizes the application's frames, and folds the others into one line with their packages. */
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { useObservable } from '../use-observable.js'
import { LongText, Many } from './show-more.js'
import { Copy } from './copy.js'
import { editor } from './editor-choice.js'
import { createEditorHref } from './editor.js'
import { countOrigin, foldFrames, isInTitle, formatLocation, splitFile } from './frames.js'
import type { FoldedFrames, StackItem } from './frames.js'
import { Fold } from './section.js'
import type { StackFrame, StackPart } from './stack.js'
import { useMappedStack } from './use-mapped-stack.js'
import { ValueMenu } from './value-menu.js'

interface StackProps {
  readonly stack: string
  /** Type and message of the first error, which are shown above the stack. */
  readonly type?: string | undefined
  readonly message?: string | undefined
}

export function StackView({ stack, type, message }: StackProps) {
  const parsed = useMappedStack(stack)
  const [isRaw, setRaw] = useState(false)
  const hasOwn = countOrigin(parsed.parts, 'own') > 0
  return (
    <div class="stack">
      <div class="stack-tools">
        <button type="button" class="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </button>
        <Copy label="Copy stack" text={() => stack} />
      </div>
      {isRaw ? (
        <LongText class="mono" text={stack} maxChars={10_000} maxLines={200} />
      ) : (
        <Many items={parsed.parts} step={10} noun="errors">
          {(parts) =>
            parts.map((part, index) => (
              <Part
                key={index}
                part={part}
                hasTitle={index > 0 || !isInTitle(part.title, type, message)}
                opensAll={!hasOwn}
              />
            ))
          }
        </Many>
      )}
      {!isRaw && parsed.linesLeftOut > 0 && <p class="hint">{parsed.linesLeftOut} more lines are in the raw stack.</p>}
    </div>
  )
}

function Part({
  part,
  hasTitle,
  opensAll,
}: {
  readonly part: StackPart
  readonly hasTitle: boolean
  readonly opensAll: boolean
}) {
  const items = useMemo(() => foldFrames(part.items), [part])
  return (
    <div class="stack-part">
      {part.label !== null && <span class="stack-label">{part.label}</span>}
      {hasTitle && part.title !== '' && <LongText class="stack-title" text={part.title} />}
      {items.length > 0 && (
        <Many items={items} step={40} noun="frames">
          {(shown) => (
            <ol class="frames">
              {shown.map((item, index) => (
                <Item key={index} item={item} opens={opensAll} />
              ))}
            </ol>
          )}
        </Many>
      )}
    </div>
  )
}

function Item({ item, opens }: { readonly item: StackItem | FoldedFrames; readonly opens: boolean }) {
  if (item.kind === 'frame') return <Frame frame={item} />
  if (item.kind === 'text') return <li class="frame-text">{item.text}</li>
  return (
    <li class="frames-folded">
      <Fold summary={item.text} isOpen={opens}>
        {() => (
          <Many items={item.frames} step={40} noun="frames">
            {(frames) => (
              <ol class="frames">
                {frames.map((frame, index) => (
                  <Frame key={index} frame={frame} />
                ))}
              </ol>
            )}
          </Many>
        )}
      </Fold>
    </li>
  )
}

/** A link to the editor, if the file is a path. */
function Place({ frame, children }: { readonly frame: StackFrame; readonly children: ComponentChildren }) {
  const name = useObservable(editor)
  const href = createEditorHref(frame, name)
  const compiled = frame.compiled === undefined ? '' : `, compiled ${formatLocation(frame.compiled)}`
  const location = `${formatLocation(frame)}${compiled}`
  if (href === null)
    return (
      <span class="place" title={location}>
        {children}
      </span>
    )
  return (
    <a class="place" href={href} title={`${location}. Open in ${name}`}>
      {children}
    </a>
  )
}

function Frame({ frame }: { readonly frame: StackFrame }) {
  const { directory, name } = splitFile(frame.file)
  const place = frame.line === null ? '' : `:${frame.line}${frame.column === null ? '' : `:${frame.column}`}`
  return (
    <li class={`frame ${frame.origin}`}>
      <span class="fn">
        {frame.isAsync && <i>async </i>}
        {frame.fn ?? '(anonymous)'}
      </span>{' '}
      <Place frame={frame}>
        <span class="directory">{directory}</span>
        {name}
        <b>{place}</b>
      </Place>
      {frame.origin === 'own' && (
        <ValueMenu
          name={`${name}${place}`}
          field="error.stack"
          value={(frame.compiled ?? frame).file}
          text={() => formatLocation(frame)}
        />
      )}
    </li>
  )
}
