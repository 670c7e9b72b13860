/** Announces the number of new entries to screen readers at intervals, instead of each entry. */
import { useEffect, useState } from 'preact/hooks'
import type { EntryFeed } from '../live/entry-feed.js'
import { formatPlural } from '../view-format.js'

const INTERVAL_MS = 5000

export function Announcer({ feed }: { feed: EntryFeed }) {
  const [text, setText] = useState('')
  useEffect(() => {
    let announced = feed.tail.arrived
    const timer = setInterval(() => {
      const fresh = feed.tail.arrived - announced
      announced += fresh
      setText(fresh === 0 ? '' : formatPlural(fresh, 'new entry', 'new entries'))
    }, INTERVAL_MS)
    return () => clearInterval(timer)
  }, [feed])
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  )
}
