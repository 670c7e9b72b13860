/** The whole page: the token prompt, or header, view and detail panel. */
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useCommands } from './commands.js'
import { EntryDetail } from './detail/entry-detail.js'
import { EntriesView } from './entries/entries-view.js'
import { live } from './live/connection.js'
import { TokenPrompt } from './shell/token-prompt.js'
import { Header } from './shell/header.js'
import { Help } from './shell/help.js'
import { useStatus } from './shell/use-status.js'
import { VIEW_TITLES } from './shell/views.js'
import { access } from './access-token.js'
import { useObservable } from './use-observable.js'
import { navigate, useView } from './use-view.js'
import { VIEWS } from './view.js'
import type { ViewName } from './view.js'
import { ErrorsView } from './views/errors-view.js'
import { FeedbackView } from './views/feedback-view.js'
import { MonitorsView } from './views/monitors-view.js'
import { RejectedView } from './views/rejected-view.js'
import { ReleasesView } from './views/releases-view.js'
import { RequestsView } from './views/requests-view.js'

const OTHER_VIEWS: Readonly<Record<Exclude<ViewName, 'entries'>, ComponentType>> = {
  errors: ErrorsView,
  requests: RequestsView,
  releases: ReleasesView,
  monitors: MonitorsView,
  feedback: FeedbackView,
  rejected: RejectedView,
}

export function App() {
  const { token, isRefused } = useObservable(access)
  return token === null || isRefused ? <TokenPrompt isRefused={isRefused} /> : <Page />
}

function Page() {
  const view = useView()
  const status = useStatus()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const { name, entry } = view
  const closeDetail = (): void => navigate({ entry: null })

  useEffect(() => {
    document.title = `${VIEW_TITLES[name].title} · pino-ingest`
  }, [name])
  useCommands({
    help: () => setHelpOpen(true),
    close: () => {
      if (entry !== null) closeDetail()
      else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    },
    ...Object.fromEntries(VIEWS.map((to, index) => [`view-${index + 1}`, () => navigate({ name: to })])),
  })

  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header view={view} status={status} onHelp={() => setHelpOpen(true)} />
      <div class={entry === null ? 'content' : 'content with-detail'}>
        <main id="main" class="main" tabIndex={-1}>
          {name === 'entries' ? (
            <EntriesView view={view} status={status} />
          ) : (
            <OtherView key={name} view={OTHER_VIEWS[name]} />
          )}
        </main>
        {entry !== null && (
          <DetailPanel>
            <EntryDetail id={entry} onClose={closeDetail} />
          </DetailPanel>
        )}
      </div>
      {isHelpOpen && <Help status={status} onClose={() => setHelpOpen(false)} />}
    </div>
  )
}

/** A panel that covers the page takes the focus, and gives it back when it closes. */
function DetailPanel({ children }: { children: ComponentChildren }) {
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = panel.current
    const before = document.activeElement
    if (matchMedia('(max-width: 900px)').matches) element?.focus()
    return () => {
      if (element?.contains(document.activeElement) !== true || !(before instanceof HTMLElement)) return
      // Covered elements can only be focused once they are visible again.
      setTimeout(() => before.focus())
    }
  }, [])
  return (
    <div class="detail-panel" ref={panel} tabIndex={-1}>
      {children}
    </div>
  )
}

/** These views only need to be notified, for any service. */
function OtherView({ view: View }: { view: ComponentType }) {
  useEffect(() => live.follow({ parameters: {} }), [])
  return <View />
}
