/** The header: views, connection state, theme and help. */
import { useEffect, useState } from 'preact/hooks'
import type { ServiceStatus } from '../../query/api-types.js'
import { formatPlural, formatShortCount } from '../view-format.js'
import { Icon } from '../icons.js'
import { live } from '../live/connection.js'
import { useObservable } from '../use-observable.js'
import { changeView, createHref, VIEWS } from '../view.js'
import type { View, ViewName } from '../view.js'
import type { Marks } from './marks.js'
import { Logo } from './logo.js'
import { setTheme, theme, THEMES } from './theme.js'
import { VIEW_TITLES } from './views.js'

export function Header({
  view,
  status,
  marks,
  onHelp,
  onClear,
}: {
  view: View
  status: ServiceStatus | undefined
  marks: Marks
  onHelp: () => void
  onClear: () => void
}) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [view.name])
  return (
    <header class="header">
      <a
        class="brand"
        href="/"
        title={status === undefined ? undefined : `pino-ingest ${status.version}, listening at ${status.url}`}
      >
        <Logo />
        <span>pino-ingest</span>
      </a>
      <button
        type="button"
        class="button plain nav-toggle"
        aria-expanded={isOpen}
        aria-controls="nav"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="menu" />
        {VIEW_TITLES[view.name].title}
      </button>
      <nav id="nav" class={isOpen ? 'nav open' : 'nav'} aria-label="Views">
        {VIEWS.map((name, index) => (
          <NavLink
            key={name}
            name={name}
            number={index + 1}
            view={view}
            status={status}
            mark={markOf(name, marks)}
            onGo={() => setOpen(false)}
          />
        ))}
      </nav>
      <Connection />
      <button type="button" class="button plain icon" onClick={onClear} title="Clear (c)" aria-label="Clear">
        <Icon name="clear" />
      </button>
      <ThemeButton />
      <button type="button" class="button plain icon" onClick={onHelp} title="Help and keys (?)">
        ?<span class="visually-hidden"> Help and keys</span>
      </button>
    </header>
  )
}

interface NavLinkProps {
  readonly name: ViewName
  readonly number: number
  readonly view: View
  readonly status: ServiceStatus | undefined
  /** What needs a look: `3 new errors`. */
  readonly mark: readonly [count: number, text: string] | undefined
  readonly onGo: () => void
}

function markOf(name: ViewName, { errors, monitors }: Marks): readonly [number, string] | undefined {
  if (name === 'errors' && errors > 0) return [errors, formatPlural(errors, 'new error')]
  if (name === 'monitors' && monitors > 0) return [monitors, formatPlural(monitors, 'late monitor')]
  return undefined
}

function NavLink({ name, number, view, status, mark, onGo }: NavLinkProps) {
  const { title, counts } = VIEW_TITLES[name]
  const stored = counts === null ? 0 : (status?.stored[counts[0]] ?? 0)
  const named = counts === null || stored === 0 ? undefined : formatPlural(stored, counts[1], counts[2])
  return (
    <a
      href={createHref({ ...changeView(view, { name }), entry: null, route: null, trace: null, around: null })}
      aria-current={view.name === name ? 'page' : undefined}
      onClick={onGo}
      title={`${named === undefined ? title : `${title}: ${named} stored`} (${number})`}
    >
      {title}
      {named !== undefined && (
        <span class={name === 'rejected' ? 'count bad' : 'count'} aria-label={named}>
          {formatShortCount(stored)}
        </span>
      )}
      {mark !== undefined && (
        <span class="count bad" aria-label={mark[1]} title={mark[1]}>
          {formatShortCount(mark[0])}
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

function ThemeButton() {
  const current = useObservable(theme)
  const next = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'system'
  return (
    <button
      type="button"
      class="button plain icon"
      onClick={() => setTheme(next)}
      title={`Theme: ${current}. Click for ${next}.`}
      aria-label={`Theme: ${current}; change to ${next}`}
    >
      <Icon name={current} />
    </button>
  )
}
