/** A row of the list: one entry. */
import { Component } from 'preact'
import type { EntrySummary } from '../../query/api-types.js'
import { formatDuration, formatFullTime, formatPlural } from '../view-format.js'
import { Icon } from '../icons.js'
import { serviceStyle } from '../service-color.js'
import type { TailRow } from '../live/tail-row.js'
import {
  formatColumnTitle,
  formatColumnValue,
  formatLate,
  formatRowDetails,
  formatRowName,
  formatRowTime,
} from './row-text.js'

interface RowProps {
  readonly row: TailRow
  readonly index: number
  readonly isSelected: boolean
  /** The entry around which the list is shown. */
  readonly isMarked: boolean
  readonly columns: readonly string[]
  /** Whether columns are shown as details. */
  readonly isNarrow: boolean
  /** Details with the same value in all drawn rows; omitted. */
  readonly constant: ReadonlySet<string>
  readonly today: string
  readonly onOpen: (id: string) => void
}

const MAX_TAGS = 3
/** A longer last part of a path is cut, too. */
const MAX_TAIL = 40

/** A class component, because `shouldComponentUpdate` skips rows whose entry is the same. */
export class Row extends Component<RowProps> {
  /** Handles clicks of screen readers and scripts; the list handles pointer clicks. */
  readonly #onClick = ({ detail }: MouseEvent): void => {
    if (detail === 0) this.props.onOpen(this.props.row.entry.id)
  }

  override shouldComponentUpdate(next: RowProps): boolean {
    const { row, index, isSelected, isMarked, columns, isNarrow, constant, today } = this.props
    return (
      next.isNarrow !== isNarrow ||
      next.row !== row ||
      next.index !== index ||
      next.isSelected !== isSelected ||
      next.isMarked !== isMarked ||
      next.columns !== columns ||
      next.constant !== constant ||
      next.today !== today
    )
  }

  override render() {
    const { row, index, isSelected, isMarked, columns, isNarrow, constant, today } = this.props
    const { entry, lateMs } = row
    const {
      id,
      seq,
      timestamp,
      level,
      service,
      message,
      error,
      request,
      breadcrumbs,
      has_feedback: hasFeedback,
    } = entry
    // Their messages are all the same.
    const isRequestLog = request?.status_code !== undefined && error === undefined
    return (
      <div
        role="row"
        id={`row-${seq}`}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        aria-label={formatRowName(entry, today)}
        aria-current={isMarked ? 'true' : undefined}
        data-entry={id}
        class={`row row-${level}${isMarked ? ' row-marked' : ''}`}
        onClick={this.#onClick}
      >
        <span role="gridcell" class="row-time" title={formatFullTime(timestamp)}>
          {formatRowTime(timestamp, today)}
        </span>
        <span role="gridcell" class="row-level">
          <span class={`level level-${level}`}>{level}</span>
        </span>
        <span role="gridcell" class="row-service service cut" style={serviceStyle(service ?? '')} title={service}>
          {service}
        </span>
        {!isNarrow &&
          columns.map((name) => (
            <span key={name} role="gridcell" class="row-column cut" title={entry.columns?.[name]}>
              {formatColumnValue(name, entry.columns?.[name] ?? '')}
            </span>
          ))}
        <span role="gridcell" class="row-text">
          {lateMs > 0 && (
            <span class="chip row-late" title={`Arrived after newer entries, ${formatLate(lateMs)} late`}>
              late, {formatLate(lateMs)}
            </span>
          )}
          {request !== undefined && isRequestLog && <RequestPart request={request} columns={columns} />}
          <span class={isRequestLog ? 'row-message faint cut' : 'row-message cut'}>
            {error?.type !== undefined && <b class="row-type">{error.type}</b>}
            {message.trim() === '' && error?.message === undefined ? <i class="faint">no message</i> : message}
            {error?.message !== undefined && error.message !== message && (
              <span class="row-cause">{error.message}</span>
            )}
          </span>
          {isNarrow && (
            <Details
              class="row-values"
              details={columns.flatMap((name) => {
                const value = entry.columns?.[name]
                return value === undefined ? [] : [[formatColumnTitle(name), formatColumnValue(name, value)] as const]
              })}
            />
          )}
          {request !== undefined && !isRequestLog && <RequestPart request={request} columns={columns} />}
          <Details class="row-details" details={formatRowDetails(entry, constant, columns)} />
          <Tags entry={entry} />
          {hasFeedback === true && (
            <span class="row-breadcrumbs" title="A user commented">
              <Icon name="feedback" />
              <span class="visually-hidden"> a user commented</span>
            </span>
          )}
          {breadcrumbs !== undefined && (
            <span class="row-breadcrumbs" title={formatPlural(breadcrumbs, 'breadcrumb')}>
              <Icon name="breadcrumbs" />
              {breadcrumbs}
              <span class="visually-hidden"> breadcrumbs</span>
            </span>
          )}
        </span>
      </div>
    )
  }
}

interface DetailsProps {
  readonly class: string
  readonly details: readonly (readonly [name: string, value: string])[]
}

function Details({ class: className, details }: DetailsProps) {
  if (details.length === 0) return null
  return (
    <span class={`${className} cut`} title={details.map(([name, value]) => `${name}=${value}`).join('  ')}>
      {details.map(([name, value]) => (
        <span key={name}>
          <span class="row-detail-name">{name}=</span>
          {value}
        </span>
      ))}
    </span>
  )
}

function Tags({ entry: { tags = [], tag_count: count = tags.length } }: { entry: EntrySummary }) {
  return (
    <>
      {tags.slice(0, MAX_TAGS).map((tag, at) => (
        <span key={at} class="chip row-tag">
          {tag}
        </span>
      ))}
      {count > MAX_TAGS && (
        <span class="chip row-tag" title={`${tags.slice(MAX_TAGS).join(', ')}${count > tags.length ? ' …' : ''}`}>
          +{count - MAX_TAGS}
        </span>
      )}
    </>
  )
}

function RequestPart({
  request: { method = '', path = '', status_code: status, duration_ms: durationMs },
  columns,
}: {
  request: NonNullable<EntrySummary['request']>
  columns: readonly string[]
}) {
  const hasNo = (...names: readonly string[]): boolean => !names.some((name) => columns.includes(name))
  // A long path is cut in the middle: its last part tells more than its first.
  const tailAt = path.lastIndexOf('/', path.length - 2)
  const tail = tailAt > 0 && path.length - tailAt <= MAX_TAIL ? path.slice(tailAt) : ''
  const tone = status === undefined || status < 400 ? '' : status < 500 ? ' warn' : ' bad'
  return (
    <span class="row-request">
      {hasNo('path', 'route', 'url') && (
        <span class="row-path" title={`${method} ${path}`}>
          <span class="cut">
            {method} {path.slice(0, path.length - tail.length)}
          </span>
          <span>{tail}</span>
        </span>
      )}
      {status !== undefined && hasNo('status') && <b class={`status${tone}`}>{status}</b>}
      {durationMs !== undefined && hasNo('duration') && <span class="faint">{formatDuration(durationMs)}</span>}
    </span>
  )
}
