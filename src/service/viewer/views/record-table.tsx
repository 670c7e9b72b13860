/** A table of records, one per row, which links to a record or unfolds it. In narrow windows each row is a short paragraph. */
import type { ComponentChildren } from 'preact'
import { Fragment } from 'preact'
import { serviceStyle } from '../service-color.js'
import { truncate } from '../detail/tree.js'
import { navigate, useView } from '../use-view.js'

export interface Column<T> {
  readonly name: string
  /** The cell. The first one is the row's name, and has its link unless the rows unfold. */
  readonly cell: (item: T) => ComponentChildren
  readonly isNumber?: boolean
  /** The order that a click on the header selects, as the address names it. */
  readonly sort?: string
}

interface RecordTableProps<T> {
  readonly label: string
  readonly items: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (item: T) => string
  readonly rowClass?: (item: T) => string | undefined
  /** What a row unfolds. The address names the unfolded row. */
  readonly detail?: (item: T) => ComponentChildren
}

/** The order in the address; the first column with an order is the default. */
export function findSort(columns: readonly Column<never>[], sort: string | null): string | undefined {
  const sorts = columns.flatMap((column) => column.sort ?? [])
  return sorts.find((one) => one === sort) ?? sorts[0]
}

export function RecordTable<T>({ label, items, columns, keyOf, rowClass, detail }: RecordTableProps<T>) {
  const { sort, open } = useView()
  const order = findSort(columns, sort)
  const [first, ...others] = columns
  return (
    <div class="card table-scroll">
      <table class="table records" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, sort: own }) => (
              <th
                key={name}
                scope="col"
                class={isNumber ? 'number' : undefined}
                aria-sort={own !== undefined && own === order ? 'descending' : undefined}
              >
                {own === undefined ? (
                  name
                ) : (
                  <button type="button" class="sort" onClick={() => navigate({ sort: own }, { replace: true })}>
                    {name}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody class="choosable" onClick={followRow}>
          {items.map((item) => {
            const key = keyOf(item)
            const isOpen = detail !== undefined && open === key
            return (
              <Fragment key={key}>
                <tr class={rowClass?.(item)}>
                  <td>
                    {detail === undefined ? (
                      first?.cell(item)
                    ) : (
                      <button
                        type="button"
                        class="fold"
                        aria-expanded={isOpen}
                        onClick={() => navigate({ open: isOpen ? null : key }, { replace: true })}
                        data-line
                      >
                        {first?.cell(item)}
                      </button>
                    )}
                  </td>
                  {others.map(({ name, isNumber, cell }) => (
                    <td key={name} class={isNumber ? 'number' : undefined} data-name={name}>
                      {cell(item)}
                    </td>
                  ))}
                </tr>
                {isOpen && (
                  <tr class="record-detail">
                    <td colSpan={columns.length}>{detail(item)}</td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Makes a click anywhere in a row follow the row's link or button. Selecting text, links and buttons in the row still work. */
function followRow({ target, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): void {
  if (!(target instanceof Element) || target.closest('a, button, summary') !== null) return
  if (getSelection()?.isCollapsed === false) return
  const line = target.closest('tr')?.querySelector<HTMLElement>('[data-line]')
  // The keys j and k continue from the focused row.
  line?.focus({ preventScroll: true })
  line?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey, altKey }))
}

export function Services({ services }: { readonly services: readonly string[] }) {
  return (
    <span class="services">
      {services.map((service) => (
        <span key={service} class="chip service" style={serviceStyle(service)}>
          {truncate(service, 40)}
        </span>
      ))}
    </span>
  )
}
