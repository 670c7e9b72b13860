/** The menu of a logged value: filter, exclude, column, copy. Current filters are kept. */
import { addTerm, excludeTerm, setComparison } from '../../query/language/index.js'
import { readView } from '../use-view.js'
import { changeView, createHref } from '../view.js'
import type { View } from '../view.js'
import { isFilterable } from './fact.js'
import { MenuButton } from './menu.js'
import type { MenuItem } from './menu.js'
import { copyWithNotice } from './notice.js'
import { truncate } from './tree.js'
import { isColumnName, toggleColumn } from './value-field.js'
import type { FieldValue } from './value-field.js'

interface ValueMenuProps {
  /** Name of the value for screen readers and notices: `Path`, `cart.totalCents`. */
  readonly name: string
  /** Field of the query language; null if filters cannot use the value. */
  readonly field: string | null
  readonly value: FieldValue
  /** Text to copy instead of the value. */
  readonly text?: () => string
  /** Path of a value in a tree. */
  readonly path?: string
}

export function ValueMenu(props: ValueMenuProps) {
  return <MenuButton name={`Actions for ${truncate(props.name, 100)}`} items={() => listActions(props)} />
}

function listActions({ name, field, value, text, path }: ValueMenuProps): readonly MenuItem[] {
  const view = readView()
  const href = (change: Partial<View>): string =>
    createHref({ ...changeView(view, { name: 'entries', ...change }), entry: view.entry })
  const items: MenuItem[] = []
  if (field !== null && (typeof value !== 'string' || isFilterable(value))) {
    items.push(
      { label: 'Filter by this value', href: href({ q: addTerm(view.q, field, value) }) },
      { label: 'Exclude this value', href: href({ q: excludeTerm(view.q, field, value) }) },
    )
    if (typeof value === 'number')
      items.push({
        label: 'At least this value',
        href: href({ q: setComparison(view.q, field, '>=', value) }),
      })
  }
  if (field !== null && isColumnName(field)) {
    items.push({
      label: view.columns.includes(field) ? 'Remove the column' : 'Add as column',
      href: href({ columns: toggleColumn(view.columns, field) }),
    })
  }
  const shortName = truncate(name, 60)
  items.push({
    label: 'Copy value',
    run: () => copyWithNotice(text === undefined ? String(value) : text(), `the value of ${shortName}`),
  })
  if (path !== undefined) items.push({ label: 'Copy path', run: () => copyWithNotice(path, `the path ${shortName}`) })
  return items
}
