/** The view "monitors": pings, usual intervals, and late monitors. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MonitorSummary } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { formatCount, formatDuration, formatFullTime, formatPlural } from '../view-format.js'
import { Empty, Problem } from '../components.js'
import { useQuery } from '../use-query.js'
import { Ago } from './ago.js'
import { ViewPage } from './list-page.js'
import { MonitorFinder } from './monitor-finder.js'
import { createStrip, findMissed, toMonitorState } from './monitor-state.js'
import { Snippet, StartHint } from './snippet.js'
import { UnusedFilter } from './unused-filter.js'
import { useNow } from '../use-now.js'

const RUN = `export PINO_INGEST_MONITOR_TOKEN=nightly-token
npx pino-ingest heartbeat --name backup -- npm run backup   # pings when it has succeeded`

const IN_CODE = `import { startHeartbeat } from 'pino-ingest'

startHeartbeat('queue-worker-token', { name: 'queue', everyMs: 60_000 })`

export function MonitorsView() {
  const { data, error } = useQuery<{ readonly items: readonly MonitorSummary[] }>(
    'monitors',
    {},
    useChanges('heartbeat'),
  )
  const [found, setFound] = useState<string | null>(null)
  const nowMs = useNow()
  const isLate = (monitor: MonitorSummary): number => Number(toMonitorState(monitor, nowMs).name === 'late')
  const items = data?.items.toSorted((a, b) => isLate(b) - isLate(a))
  const finder = (
    <MonitorFinder
      found={found}
      isListed={items?.some(({ monitor }) => monitor === found) === true}
      onFind={setFound}
    />
  )
  return (
    <ViewPage
      title="Monitors"
      about={items?.length === 0 ? undefined : "A monitor's id is a hash of its token, which is not stored."}
    >
      <Problem error={error} />
      <UnusedFilter />
      {error === undefined && items === undefined && <p class="muted">Loading …</p>}
      {items?.length === 0 && (
        <Empty title="No heartbeat yet">
          <p>Any token creates a monitor. Ping from a cron job:</p>
          <Snippet code={RUN} />
          <p>Or from within an application:</p>
          <Snippet code={IN_CODE} />
          <StartHint />
          <p>A monitor is listed by a hash of its token.</p>
          {finder}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <>
          <ul class="cards monitors">
            {items.map((monitor) => (
              <Monitor key={monitor.monitor} monitor={monitor} isFound={monitor.monitor === found} />
            ))}
          </ul>
          {finder}
        </>
      )}
    </ViewPage>
  )
}

function Monitor({ monitor, isFound }: { readonly monitor: MonitorSummary; readonly isFound: boolean }) {
  const nowMs = useNow()
  const state = toMonitorState(monitor, nowMs)
  const missed = findMissed(monitor, nowMs)
  const card = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isFound) card.current?.scrollIntoView({ block: 'nearest' })
  }, [isFound])
  return (
    <li
      class={`card monitor ${state.name}${isFound ? ' found' : ''}`}
      ref={card}
      aria-current={isFound ? 'true' : undefined}
    >
      <div class="monitor-head">
        <h2>
          {monitor.name !== null && `${monitor.name} `}
          <code>{monitor.monitor}</code>
        </h2>
        <span class={`state ${state.name}`}>{state.text}</span>
      </div>
      <dl class="figures">
        <div>
          <dt>Last ping</dt>
          <dd>
            <Ago at={monitor.last_ping} />
          </dd>
        </div>
        <div>
          <dt>Interval</dt>
          <dd>{monitor.interval_ms === null ? '–' : formatDuration(monitor.interval_ms)}</dd>
        </div>
        <div>
          <dt>Pings</dt>
          <dd>{formatCount(monitor.pings)}</dd>
        </div>
        <div>
          <dt>Missed</dt>
          <dd
            class={missed.count > 0 ? 'bad' : ''}
            title={`among the last ${formatPlural(monitor.recent.length, 'ping')}, and since`}
          >
            {formatCount(missed.count)}
          </dd>
        </div>
        <div>
          <dt>First ping</dt>
          <dd>
            <Ago at={monitor.first_ping} />
          </dd>
        </div>
      </dl>
      <Strip recent={monitor.recent} missed={missed.times} nowMs={nowMs} />
    </li>
  )
}

interface StripProps {
  readonly recent: readonly string[]
  readonly missed: readonly number[]
  readonly nowMs: number
}

/** One mark per ping, and a fainter one per missed ping, on a scale that ends now. */
function Strip({ recent, missed, nowMs }: StripProps) {
  const { marks, missedMarks, silence } = createStrip(recent, missed, nowMs)
  const oldest = recent.at(-1)
  return (
    <figure class="strip">
      <svg
        viewBox="0 0 100 10"
        preserveAspectRatio="none"
        role="img"
        aria-label={`The last ${formatPlural(recent.length, 'ping')}${missed.length > 0 ? ', with missed ones' : ''}`}
      >
        <line class="rail" x1={0} x2={silence * 100} y1={5} y2={5} />
        <line class="silence" x1={silence * 100} x2={100} y1={5} y2={5} />
        {missedMarks.map((at, index) => (
          <rect key={index} class="missed" x={at * 99.2} y={2} width={0.8} height={6} />
        ))}
        {marks.map((at, index) => (
          <rect key={index} x={at * 99.2} y={0} width={0.8} height={10} />
        ))}
      </svg>
      {oldest !== undefined && (
        <figcaption>
          <span>{formatFullTime(oldest).slice(0, 19)}</span>
          <span>now</span>
        </figcaption>
      )}
    </figure>
  )
}
