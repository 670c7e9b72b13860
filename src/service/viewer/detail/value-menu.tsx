/** The menu of a logged value: filter, values, mute, column, copy. Current filters are kept. */
import type { ComponentChildren } from 'preact'
import type { JsonObject } from '../../../protocol/log-entry.js'
import { addTerm, excludeTerm, setComparison } from '../../query/language/index.js'
import { createMute, mute } from '../mutes.js'
import { readView } from '../use-view.js'
import { changeView, createHref } from '../view.js'
import type { View } from '../view.js'
import { isColumnName, isFilterable, toggleColumn } from './fact.js'
import type { FieldValue } from './fact.js'
import { MenuButton } from './menu.js'
import type { MenuItem } from './menu.js'
import { copyWithNotice } from './notice.js'
import { Many } from './show-more.js'
import { formatPreview, isContainer, listMembers, toCopy, truncate } from './tree.js'

interface ValueMenuProps {
  /** Name of the value for screen readers and notices: `Path`, `cart.totalCents`. */
  readonly name: string
  /** Field of the query language; null if filters cannot use the value. */
  readonly field: string | null
  readonly value: FieldValue
  readonly text?: () => string
  readonly path?: string
  readonly class?: string
  /** The value as the button's text. Without it, the button follows the value. */
  readonly children?: ComponentChildren
}

export function ValueMenu(props: ValueMenuProps) {
  const { name, class: className, children } = props
  return (
    <MenuButton name={`Actions for ${truncate(name, 100)}`} items={() => listActions(props)} class={className}>
      {children}
    </MenuButton>
  )
}

function listActions({ name, field, value, text, path }: ValueMenuProps): readonly MenuItem[] {
  const view = readView()
  const href = (change: Partial<View>): string =>
    createHref({ ...changeView(view, { name: 'entries', ...change }), entry: view.entry })
  const items: MenuItem[] = []
  if (field !== null && isFilterable(value)) {
    items.push(
      { label: 'Filter by this value', href: href({ q: addTerm(view.q, field, value) }) },
      { label: 'Exclude this value', href: href({ q: excludeTerm(view.q, field, value) }) },
    )
    if (typeof value === 'number')
      items.push({ label: 'At least this value', href: href({ q: setComparison(view.q, field, '>=', value) }) })
    const term = createMute(field, String(value))
    const noun = field === 'metadata.logger' ? 'logger' : 'message'
    if (term !== undefined) items.push({ label: `Mute this ${noun}`, run: () => mute(term) })
  }
  if (field !== null && isColumnName(field)) {
    items.push(
      { label: 'Values of this field', href: href({ field }) },
      {
        label: view.columns.includes(field) ? 'Remove the column' : 'Add as column',
        href: href({ columns: toggleColumn(view.columns, field) }),
      },
    )
  }
  const shortName = truncate(name, 60)
  items.push({
    label: 'Copy value',
    run: () => copyWithNotice(text === undefined ? String(value) : text(), `the value of ${shortName}`),
  })
  if (path !== undefined) items.push({ label: 'Copy path', run: () => copyWithNotice(path, `the path ${shortName}`) })
  return items
}

const SHOWN = 12

/** Values in a line, `key=value`, each with its menu. */
export function InlineValues({
  values,
  field,
}: {
  readonly values: JsonObject
  readonly field: (key: string) => string
}) {
  const members = listMembers(values, Infinity)
  return (
    <Many items={members} step={SHOWN} noun="values">
      {(shown) => (
        <div class="inline">
          {shown.map(({ key, value }) => (
            <span key={key}>
              <ValueMenu
                class="value"
                name={String(key)}
                field={isContainer(value) ? null : field(String(key))}
                value={isContainer(value) ? null : value}
                text={() => toCopy(value)}
              >
                <span class="muted">{truncate(String(key), 60)}=</span>
                {truncate(typeof value === 'string' ? value : formatPreview(value), 120)}
              </ValueMenu>
            </span>
          ))}
        </div>
      )}
    </Many>
  )
}
