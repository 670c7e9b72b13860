/** Top of the panel: level, message, time, origin and buttons. */
import type { StoredEntry } from '../../store/stored-record.js'
import { ago, aheadOfUtc, fullTime, localAheadOfUtc, zoneName } from '../view-format.js'
import { LevelBadge } from '../components.js'
import { useNow } from '../views/use-now.js'
import { createHref } from '../view.js'
import { LongText } from './show-more.js'
import { Copy } from './copy.js'
import { EntriesLink } from './entries-link.js'
import { truncate } from './tree.js'

export function Head({ stored, onClose }: { readonly stored: StoredEntry; readonly onClose: () => void }) {
  const { entry } = stored
  const nowMs = useNow()
  const zone = zoneName(aheadOfUtc(entry.timestamp))
  const localZone = zoneName(localAheadOfUtc(entry.timestamp))
  return (
    <header class="detail-head">
      <div class="detail-bar">
        <LevelBadge level={entry.level} />
        <Origin entry={entry} />
        <span class="detail-tools">
          <Copy class="button small" label="Copy JSON" text={() => JSON.stringify(entry, null, 2)} />
          <Copy
            class="button small"
            label="Copy link"
            text={() => location.origin + createHref({ entry: stored.id })}
          />
          <button
            type="button"
            class="button small"
            aria-label="Close the detail"
            title="Close (Esc)"
            onClick={onClose}
          >
            ✕
          </button>
        </span>
      </div>
      <h2 class="detail-message">
        <LongText text={entry.message} maxChars={400} maxLines={6} />
      </h2>
      <p class="detail-time">
        <span>
          <time dateTime={entry.timestamp} title={entry.timestamp}>
            {fullTime(entry.timestamp)}
          </time>{' '}
          <span class="hint">{localZone}</span>
        </span>
        {zone !== localZone && (
          <span class="hint">
            <span>{entry.timestamp}</span> {zone}
          </span>
        )}
        <span class="hint">{ago(entry.timestamp, nowMs)}</span>
      </p>
    </header>
  )
}

/** Service, environment and version, each a link to all entries with the same value. */
function Origin({ entry }: Pick<StoredEntry, 'entry'>) {
  return (
    <>
      {(['service', 'version', 'environment'] as const).map((name) => {
        const value = entry[name]
        return (
          value !== undefined && (
            <EntriesLink key={name} class="origin" name={name} value={value} title={`All entries of this ${name}`}>
              {truncate(value, 60)}
            </EntriesLink>
          )
        )
      })}
    </>
  )
}
