/** Shows a logged value as a tree of nested lists; long lists are shown in parts. */
import { useState } from 'preact/hooks'
import type { Json } from '../../../protocol/log-entry.js'
import { MoreButton } from './show-more.js'
import { toCopy, truncate, isContainer, findKind, listMembers, formatPath, formatPreview, countItems } from './tree.js'
import type { Member, Path } from './tree.js'
import { ValueMenu } from './value-menu.js'

const STEP = 50
const OPEN_DEPTH = 2
/** Containers with more members are initially folded. */
const OPEN_MEMBERS = 20
/** Deeper lines are not indented further. */
const MAX_INDENTED_DEPTH = 12
const STRING_CHARS = 300
const MAX_STRING_CHARS = 20_000

/** Returns the field of the query language for a leaf. */
type ToField = ((path: Path) => string) | null

export function Tree({
  value,
  label,
  field,
}: {
  readonly value: Json
  readonly label: string
  /** Null if leaf values cannot be used as filters. */
  readonly field: ToField
}) {
  return (
    <div class="tree" role="group" aria-label={label}>
      <Members value={value} path={[]} depth={0} field={field} />
    </div>
  )
}

function Members({
  value,
  path,
  depth,
  field,
}: {
  readonly value: Json
  readonly path: Path
  readonly depth: number
  readonly field: ToField
}) {
  const [shown, setShown] = useState(STEP)
  const size = countItems(value)
  return (
    <>
      <ul class={depth === 0 ? undefined : depth <= MAX_INDENTED_DEPTH ? 'indented' : 'flat'}>
        {listMembers(value, shown).map((member) => (
          <Node key={member.key} member={member} path={[...path, member.key]} depth={depth} field={field} />
        ))}
      </ul>
      {size > shown && (
        <MoreButton rest={size - shown} step={STEP} noun="members" onMore={() => setShown(shown + STEP)} />
      )}
    </>
  )
}

function Node({
  member: { key, value },
  path,
  depth,
  field,
}: {
  readonly member: Member
  readonly path: Path
  readonly depth: number
  readonly field: ToField
}) {
  const size = countItems(value)
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH - 1 && size <= OPEN_MEMBERS)
  const keyText = truncate(String(key), 100)
  if (!isContainer(value) || size === 0) {
    return (
      <li class="node">
        <span class="key">{keyText}</span> <Scalar value={value} /> <Actions value={value} path={path} field={field} />
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
      <Actions value={value} path={path} field={field} />
      {isOpen && <Members value={value} path={path} depth={depth + 1} field={field} />}
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
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all
        </button>
      )}
    </>
  )
}

function Actions({ value, path, field }: { readonly value: Json; readonly path: Path; readonly field: ToField }) {
  const place = formatPath(path)
  if (isContainer(value))
    return <ValueMenu name={place} field={null} value={null} text={() => toCopy(value)} path={place} />
  return <ValueMenu name={place} field={field?.(path) ?? null} value={value} path={place} />
}
