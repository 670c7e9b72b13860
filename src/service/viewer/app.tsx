/** The whole page: the token prompt, or header, view and detail panel. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useCommands } from './commands.js'
import { EntryDetail } from './detail/entry-detail.js'
import { Notice } from './detail/notice.js'
import { EntriesView } from './entries/entries-view.js'
import { canGoBack, goBack } from './entries/zoom.js'
import { live } from './live/connection.js'
import { DetailPanel } from './shell/detail-panel.js'
import { DeleteDialog, Help } from './shell/dialogs.js'
import { createIcon, formatTitle, Header, RestartNotice } from './shell/header.js'
import { TokenPrompt } from './shell/token-prompt.js'
import { access } from './access-token.js'
import { useObservable } from './use-observable.js'
import { useAttentionCounts, useStatus } from './use-status.js'
import { navigate, useView } from './use-view.js'
import { formatShortCount } from './view-format.js'
import { VIEWS } from './view.js'
import type { ViewName } from './view.js'
import { ErrorsView } from './views/errors-view.js'
import { FeedbackView } from './views/feedback-view.js'
import { MonitorsView } from './views/monitors-view.js'
import { RejectedView } from './views/rejected-view.js'
import { ReleasesView } from './views/releases-view.js'
import { RequestsView } from './views/requests-view.js'
import { TracesView } from './views/traces-view.js'

const OTHER_VIEWS: Readonly<Record<Exclude<ViewName, 'entries'>, ComponentType>> = {
  errors: ErrorsView,
  traces: TracesView,
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
  const [isDeleteOpen, setDeleteOpen] = useState(false)
  const { name, entry } = view
  const closeDetail = (): void => navigate({ entry: null })

  const attention = useAttentionCounts(name, status)
  const marked = Object.values(attention).reduce((sum, count) => sum + count, 0)
  useEffect(() => {
    document.title = `${marked > 0 ? `(${formatShortCount(marked)}) ` : ''}${formatTitle(name)} · pino-ingest`
    document.querySelector('link[rel=icon]')?.setAttribute('href', createIcon(marked > 0))
  }, [name, marked])
  useCommands({
    help: () => setHelpOpen(true),
    // The list of entries handles Escape itself.
    ...(name !== 'entries' && {
      close: () => {
        if (entry !== null) closeDetail()
        else if (canGoBack()) goBack()
        else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      },
    }),
    ...Object.fromEntries(VIEWS.map((to, index) => [`view-${index + 1}`, () => navigate({ name: to })])),
  })

  return (
    <div class="app">
      <a class="popup skip" href="#main">
        Skip to the content
      </a>
      <Header
        view={view}
        status={status}
        attention={attention}
        onHelp={() => setHelpOpen(true)}
        onDelete={() => setDeleteOpen(true)}
      />
      <RestartNotice />
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
      <Notice />
      {isDeleteOpen && <DeleteDialog status={status} onClose={() => setDeleteOpen(false)} />}
      {isHelpOpen && <Help status={status} onClose={() => setHelpOpen(false)} />}
    </div>
  )
}

/** Views other than the list of entries. They only need notifications of changes, without filters. */
function OtherView({ view: View }: { view: ComponentType }) {
  useEffect(() => live.follow({ parameters: {} }), [])
  return <View />
}
