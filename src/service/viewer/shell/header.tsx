/** The header: views, connection state, deletion and help. */
import type { ServiceStatus } from '../../query/api-types.js'
import type { RecordKind } from '../../store/stored-record.js'
import { Icon } from '../icons.js'
import { live } from '../live/connection.js'
import { Popup } from '../popup.js'
import { useObservable } from '../use-observable.js'
import { formatPlural, formatShortCount } from '../view-format.js'
import { changeView, createHref, VIEWS } from '../view.js'
import type { View, ViewName } from '../view.js'

const COUNTED: Partial<Record<ViewName, RecordKind>> = {
  entries: 'entry',
  requests: 'request',
  feedback: 'feedback',
  rejected: 'rejected',
}

export const RECORD_NAMES: Readonly<Record<RecordKind, readonly [one: string, many: string]>> = {
  entry: ['entry', 'entries'],
  request: ['request', 'requests'],
  feedback: ['comment', 'comments'],
  release: ['registration', 'registrations'],
  heartbeat: ['heartbeat', 'heartbeats'],
  rejected: ['rejected request', 'rejected requests'],
}

export function formatTitle(view: ViewName): string {
  return view.charAt(0).toUpperCase() + view.slice(1)
}

const LOGO = 'M9 1 4.4 6.8h2L3.2 10.9h2.3L1.8 15h6.1v2.2h2.2V15h6.1l-3.7-4.1h2.3l-3.2-4.1h2Z'

export function createIcon(isMarked: boolean): string {
  const dot = isMarked ? '<circle cx="14" cy="4" r="4" fill="#dc4a3d"/>' : ''
  const tree = `<path fill="#0a6b50" d="${LOGO}"/>`
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18">${tree}${dot}</svg>`)}`
}

export type AttentionCounts = Partial<Record<ViewName, number>>

interface HeaderProps {
  readonly view: View
  readonly status: ServiceStatus | undefined
  readonly attention: AttentionCounts
  readonly onHelp: () => void
  readonly onDelete: () => void
}

export function Header({ view, status, attention, onHelp, onDelete }: HeaderProps) {
  const links = VIEWS.map((name, index) => (
    <NavLink key={name} name={name} number={index + 1} view={view} status={status} attention={attention[name] ?? 0} />
  ))
  const current = (
    <>
      <Icon name="menu" /> {formatTitle(view.name)}
    </>
  )
  return (
    <header class="header">
      <a
        class="brand"
        href="/"
        aria-label="pino-ingest"
        title={status === undefined ? undefined : `pino-ingest ${status.version}, listening at ${status.url}`}
      >
        <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="currentColor">
          <path d={LOGO} />
        </svg>
      </a>
      <nav class="nav" aria-label="Views">
        {links}
      </nav>
      <div class="nav-menu">
        <Popup class="button plain" label={current} kind="dialog">
          {(close) => (
            <nav class="menu" aria-label="Views" onClick={close}>
              {links}
            </nav>
          )}
        </Popup>
      </div>
      <Connection />
      <button type="button" class="button plain icon" onClick={onDelete} title="Delete all records">
        <Icon name="clear" />
      </button>
      <button type="button" class="button plain icon" onClick={onHelp} title="Help, keys and theme (?)">
        ?<span class="visually-hidden"> Help, keys and theme</span>
      </button>
    </header>
  )
}

interface NavLinkProps {
  readonly name: ViewName
  readonly number: number
  readonly view: View
  readonly status: ServiceStatus | undefined
  readonly attention: number
}

function NavLink({ name, number, view, status, attention }: NavLinkProps) {
  const title = formatTitle(name)
  const kind = COUNTED[name]
  const stored = kind === undefined ? 0 : (status?.stored[kind] ?? 0)
  const named = kind === undefined || stored === 0 ? undefined : formatPlural(stored, ...RECORD_NAMES[kind])
  return (
    <a
      href={createHref({ ...changeView(view, { name }), entry: null, open: null, trace: null, around: null })}
      aria-current={view.name === name ? 'page' : undefined}
      title={`${named === undefined ? title : `${title}: ${named} stored`} (${number})`}
    >
      {title}
      {named !== undefined && (
        <span class={name === 'rejected' ? 'count bad' : 'count'} aria-label={named}>
          {formatShortCount(stored)}
        </span>
      )}
      {attention > 0 && (
        <span class="count bad" aria-label={formatPlural(attention, name === 'errors' ? 'new error' : 'late monitor')}>
          {formatShortCount(attention)}
        </span>
      )}
    </a>
  )
}

const WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  silent: 'No contact for 5 s',
  reconnecting: 'Reconnecting',
  waiting: 'Not live: 4 other tabs are live',
} as const

function Connection() {
  const { name, reason } = useObservable(live.state)
  return (
    <span
      class={`connection ${name}`}
      role="status"
      title={reason === undefined ? undefined : `The stream of new entries ended: ${reason}`}
    >
      <span class="dot" aria-hidden="true" />
      <span class="word">{WORDS[name]}</span>
    </span>
  )
}

/** A notice that a restart of the service has deleted the entries. Shown until dismissed or until the filter changes. */
export function RestartNotice() {
  if (!useObservable(live.isEmptied)) return null
  return (
    <p class="toolbar restart-notice" role="status">
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
