/** Shows notifications of the browser for new entries that match saved queries. */
import { useEffect, useState } from 'preact/hooks'
import type { Arrivals } from '../../query/api-types.js'
import { get } from '../api.js'
import { useChanges } from '../changes.js'
import { truncate } from '../detail/tree.js'
import { toPlainText } from '../plain-text.js'
import { useObservable } from '../use-observable.js'
import { useTick } from '../use-tick.js'
import { navigate } from '../use-view.js'
import { formatPlural } from '../view-format.js'
import { pickFilter } from '../view.js'
import { MatchNotifier, QUIET_MS } from './match-notifier.js'
import type { Match } from './match-notifier.js'
import { isPermitted, saved } from './saved-queries.js'

const LOCK = 'pino-ingest.notifications'
const MAX_CHARS = 200

/** Of all tabs of this origin, one shows notifications, because it holds the lock until it closes. */
export function useNotifications(): void {
  const queries = useObservable(saved.queries)
  const chosen = isPermitted() ? queries.filter(({ notify }) => notify) : []
  const [notifier, setNotifier] = useState<MatchNotifier>()
  const hasChosen = chosen.length > 0
  useEffect(() => {
    if (!hasChosen) return undefined
    const controller = new AbortController()
    let release = (): void => {}
    const hold = (): Promise<void> => {
      setNotifier(createNotifier())
      return new Promise((resolve) => (release = resolve))
    }
    navigator.locks.request(LOCK, { signal: controller.signal }, hold).catch(() => {
      // Aborted while another tab has the lock.
    })
    return () => {
      controller.abort()
      release()
      setNotifier(undefined)
    }
  }, [hasChosen])
  // The stream rests in a hidden tab, and has only entries that match the view's filter.
  const nowMs = useTick(QUIET_MS)
  const changes = useChanges('entry')
  useEffect(() => void notifier?.check(chosen), [notifier, queries, nowMs, changes])
}

function createNotifier(): MatchNotifier {
  return new MatchNotifier({
    readArrivals: (parameters) => get<Arrivals>('arrivals', parameters),
    report: showNotification,
    now: Date.now,
  })
}

function showNotification({ query, count, newest: { message, error } }: Match): void {
  const text = message.trim() || (error?.message ?? 'no message')
  // With the tag alone, a notification that replaces another is silent.
  const options = { tag: query.name, renotify: true, body: truncate(toPlainText(text), MAX_CHARS) }
  const notification = new Notification(`${query.name}: ${formatPlural(count, 'new entry', 'new entries')}`, options)
  notification.addEventListener('click', () => {
    window.focus()
    notification.close()
    navigate({ name: 'entries', ...pickFilter(query) })
  })
}
