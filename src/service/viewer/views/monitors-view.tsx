/** The view "monitors": pings, usual intervals, and late monitors. */
import type { MonitorSummary } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { formatCount, formatDuration, formatPlural } from '../view-format.js'
import { Ago, Empty } from '../components.js'
import { useQuery } from '../use-query.js'
import { Loaded, Snippet, StartHint, ViewPage } from './list-page.js'
import { createStrip, findMissed, toMonitorState } from './monitor-state.js'
import { RecordTable } from './record-table.js'
import type { Column } from './record-table.js'
import { UnusedFilter } from './view-filter.js'
import { useNow } from '../use-now.js'

const RUN = `export PINO_INGEST_MONITOR_TOKEN=nightly-token
npx pino-ingest heartbeat --name backup -- npm run backup   # pings when it has succeeded`

const IN_CODE = `import { startHeartbeat } from 'pino-ingest'

startHeartbeat('queue-worker-token', { name: 'queue', everyMs: 60_000 })`

export function MonitorsView() {
  const query = useQuery<{ readonly items: readonly MonitorSummary[] }>('monitors', {}, useChanges('heartbeat'))
  const nowMs = useNow()
  const isLate = (monitor: MonitorSummary): number => Number(toMonitorState(monitor, nowMs).name === 'late')
  return (
    <ViewPage filter={<UnusedFilter />}>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No heartbeat yet">
              <p>Any token creates a monitor. Ping from a cron job:</p>
              <Snippet code={RUN} />
              <p>Or from within an application:</p>
              <Snippet code={IN_CODE} />
              <StartHint />
            </Empty>
          ) : (
            <RecordTable
              label="Monitors"
              items={items.toSorted((a, b) => isLate(b) - isLate(a))}
              columns={createColumns(nowMs)}
              keyOf={({ monitor }) => monitor}
            />
          )
        }
      </Loaded>
    </ViewPage>
  )
}

function createColumns(nowMs: number): readonly Column<MonitorSummary>[] {
  return [
    {
      name: 'Monitor',
      cell: ({ name, monitor }) => (
        <>
          {name !== null && <b>{name} </b>}
          <code title="Hash of its token, which is not stored">{monitor}</code>
        </>
      ),
    },
    {
      name: 'State',
      cell: (monitor) => {
        const { name, text } = toMonitorState(monitor, nowMs)
        return <span class={`state ${name}`}>{text}</span>
      },
    },
    { name: 'Last ping', cell: (monitor) => <Ago at={monitor.last_ping} /> },
    {
      name: 'Interval',
      isNumber: true,
      cell: ({ interval_ms: ms }) => (ms === null ? '–' : formatDuration(ms)),
    },
    { name: 'Pings', isNumber: true, cell: ({ pings }) => formatCount(pings) },
    {
      name: 'Missed',
      isNumber: true,
      cell: (monitor) => {
        const { count } = findMissed(monitor, nowMs)
        const title = `Missed pings since the oldest of the last ${formatPlural(monitor.recent.length, 'ping')}`
        return (
          <span class={count > 0 ? 'bad' : 'faint'} title={title}>
            {formatCount(count)}
          </span>
        )
      },
    },
    { name: 'Timeline', cell: (monitor) => <Strip monitor={monitor} nowMs={nowMs} /> },
  ]
}

/** One mark per ping, and a fainter one per missed ping, on a scale that ends now. */
function Strip({ monitor, nowMs }: { readonly monitor: MonitorSummary; readonly nowMs: number }) {
  const { recent } = monitor
  const { times } = findMissed(monitor, nowMs)
  const { marks, missedMarks, silence } = createStrip(recent, times, nowMs)
  return (
    <svg
      class="strip"
      viewBox="0 0 100 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={`The last ${formatPlural(recent.length, 'ping')}${times.length > 0 ? ', with missed ones' : ''}`}
    >
      <line x1={0} x2={silence * 100} y1={5} y2={5} />
      <line class="silence" x1={silence * 100} x2={100} y1={5} y2={5} />
      {missedMarks.map((at, index) => (
        <rect key={index} class="missed" x={at * 99.2} y={2} width={0.8} height={6} />
      ))}
      {marks.map((at, index) => (
        <rect key={index} x={at * 99.2} y={0} width={0.8} height={10} />
      ))}
    </svg>
  )
}
