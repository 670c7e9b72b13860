/** Column headers. The user's own columns can be removed. */
import { Icon } from '../icons.js'
import { keepFocus } from '../keep-focus.js'
import { navigate } from '../use-view.js'
import { formatColumnTitle } from './row-text.js'
import { findLocalOffset, formatZone } from '../view-format.js'

export function ListHead({ columns }: { columns: readonly string[] }) {
  return (
    <div role="row" aria-rowindex={1} class="row list-head">
      <span role="columnheader">
        Time <span class="zone">({formatZone(findLocalOffset(Date.now()))})</span>
      </span>
      <span role="columnheader">Level</span>
      <span role="columnheader" class="row-service">
        Service
      </span>
      {columns.map((name) => (
        <span key={name} role="columnheader" class="row-column column-head">
          <span class="cut" title={name}>
            {formatColumnTitle(name)}
          </span>
          <button
            type="button"
            aria-label={`Remove the column ${name}`}
            onClick={() => {
              keepFocus('.column-head button')
              navigate({ columns: columns.filter((one) => one !== name) })
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <span role="columnheader">Message</span>
    </div>
  )
}
