/** A notice that a restart of the service has deleted the entries. Shown until dismissed or until the filter changes. */
import { Icon } from '../icons.js'
import { live } from '../live/connection.js'
import { useObservable } from '../use-observable.js'

export function RestartNotice() {
  if (!useObservable(live.isEmptied)) return null
  return (
    <p class="restart-notice" role="status">
      <span>
        The service was restarted: its entries are gone. With <code>--db FILE</code> it keeps them.
      </span>
      <button
        type="button"
        class="button plain icon small"
        aria-label="Dismiss"
        onClick={() => live.isEmptied.set(false)}
      >
        <Icon name="close" />
      </button>
    </p>
  )
}
