/** Shows the metadata as a tree of nested lists; long lists are shown in parts. */
import { useState } from 'preact/hooks'
import type { Json } from '../../../protocol/log-entry.js'
import { toMetadataField } from './fact.js'
import { MoreButton } from './show-more.js'
import { toCopy, truncate, isContainer, findKind, listMembers, formatPath, formatPreview, countItems } from './tree.js'
import type { Path } from './tree.js'
import { ValueMenu } from './value-menu.js'

const STEP = 50
const OPEN_DEPTH = 2
/** Containers with more members are initially folded. */
const OPEN_MEMBERS = 20
/** Deeper lines are not indented further. */
const MAX_INDENTED_DEPTH = 12
const STRING_CHARS = 300
const MAX_STRING_CHARS = 20_000

export function Tree({ value, label }: { readonly value: Json; readonly label: string }) {
  return (
    <div class="tree" role="group" aria-label={label}>
      <Members value={value} path={[]} />
    </div>
  )
}

interface NodeProps {
  readonly value: Json
  /** Path of the value from the root; empty for the root itself. */
  readonly path: Path
}

function Members({ value, path }: NodeProps) {
  const [shown, setShown] = useState(STEP)
  const size = countItems(value)
  return (
    <>
      <ul class={path.length === 0 ? undefined : path.length <= MAX_INDENTED_DEPTH ? 'indented' : 'flat'}>
        {listMembers(value, shown).map(({ key, value: member }) => (
          <Node key={key} value={member} path={[...path, key]} />
        ))}
      </ul>
      <MoreButton rest={size - shown} step={STEP} noun="members" onMore={() => setShown(shown + STEP)} />
    </>
  )
}

function Node({ value, path }: NodeProps) {
  const size = countItems(value)
  const [isOpen, setOpen] = useState(path.length < OPEN_DEPTH && size <= OPEN_MEMBERS)
  const keyText = truncate(String(path.at(-1)), 100)
  if (!isContainer(value) || size === 0) {
    return (
      <li class="node">
        <span class="key">{keyText}</span> <Scalar value={value} /> <Actions value={value} path={path} />
      </li>
    )
  }
  return (
    <li class="node">
      <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="key">{keyText}</span>{' '}
        <span class="preview">
          {isOpen ? (Array.isArray(value) ? `[${size}]` : `{${size}}`) : formatPreview(value)}
        </span>
      </button>
      <Actions value={value} path={path} />
      {isOpen && <Members value={value} path={path} />}
    </li>
  )
}

function Scalar({ value }: { readonly value: Json }) {
  const [isWhole, setWhole] = useState(false)
  const kind = findKind(value)
  if (typeof value !== 'string')
    return <span class={`value ${kind}`}>{isContainer(value) ? formatPreview(value) : String(value)}</span>
  const text = truncate(value, isWhole ? MAX_STRING_CHARS : STRING_CHARS)
  return (
    <>
      <span class="value string">{value === '' ? '""' : text}</span>
      {!isWhole && value.length > STRING_CHARS && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          Show all
        </button>
      )}
    </>
  )
}

function Actions({ value, path }: NodeProps) {
  const place = formatPath(path)
  return isContainer(value) ? (
    <ValueMenu name={place} field={null} value={null} text={() => toCopy(value)} path={place} />
  ) : (
    <ValueMenu name={place} field={toMetadataField(path)} value={value} path={place} />
  )
}
