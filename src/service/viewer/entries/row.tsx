/** A row of the list: one entry. Also the column headers, of which the user's own can be removed. */
import { Component } from 'preact'
import type { EntrySummary } from '../../query/api-types.js'
import { Icon } from '../icons.js'
import { keepFocus } from '../keep-focus.js'
import { serviceStyle } from '../service-color.js'
import { navigate } from '../use-view.js'
import { findLocalOffset, formatDuration, formatFullTime, formatPlural, formatZone } from '../view-format.js'
import {
  formatColumnTitle,
  formatColumnValue,
  formatRowName,
  formatRowTime,
  listRowDetails,
  listRowTexts,
} from '../row-text.js'
import type { SplitHits } from '../row-text.js'

interface RowProps {
  readonly entry: EntrySummary
  readonly index: number
  readonly isSelected: boolean
  readonly isMarked: boolean
  readonly columns: readonly string[]
  readonly isNarrow: boolean
  readonly hits: SplitHits
  readonly today: string
}

/** A longer last part of a path is cut, too. */
const MAX_TAIL = 40

/** A class component, because `shouldComponentUpdate` skips rows whose entry is the same. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some((name) => next[name] !== this.props[name])
  }

  override render() {
    const { entry, index, isSelected, isMarked, columns, isNarrow, hits, today } = this.props
    const { id, seq, timestamp, level, service = '', error, request, breadcrumbs } = entry
    const values = columns.flatMap((name) => {
      const value = entry.columns?.[name]
      return value === undefined ? [] : [[formatColumnTitle(name), formatColumnValue(name, value)] as const]
    })
    const details = [...(isNarrow ? values : []), ...listRowDetails(entry, columns)]
    const texts = listRowTexts(entry, (text) => hits(text).length > 1)
    const isReply = request?.status_code !== undefined && error === undefined
    return (
      <div
        role="row"
        id={`row-${seq}`}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        aria-label={formatRowName(entry, today)}
        aria-current={isMarked ? 'true' : undefined}
        data-entry={id}
        data-level={level}
        class={isMarked ? 'row row-marked' : 'row'}
      >
        <span role="gridcell" class="row-time" title={formatFullTime(timestamp)}>
          {formatRowTime(timestamp, today)}
        </span>
        <span role="gridcell" class="row-level">
          {level}
        </span>
        <span role="gridcell" class="row-service service cut" style={serviceStyle(service)} title={service}>
          <Hits text={service} hits={hits} />
        </span>
        {!isNarrow &&
          columns.map((name) => (
            <span key={name} role="gridcell" class="row-column cut" title={entry.columns?.[name]}>
              {formatColumnValue(name, entry.columns?.[name] ?? '')}
            </span>
          ))}
        <span role="gridcell" class="row-text">
          {request !== undefined && isReply && <RequestPart request={request} columns={columns} hits={hits} />}
          {(error?.type !== undefined || texts.length > 0) && (
            <span class="row-message cut">
              {error?.type !== undefined && (
                <b>
                  <Hits text={`${error.type}${texts.length > 0 ? ': ' : ''}`} hits={hits} />
                </b>
              )}
              {texts.map((text, at) => (
                <span key={at} class={at > 0 || isReply ? 'row-rest' : undefined}>
                  <Hits text={text} hits={hits} />
                </span>
              ))}
            </span>
          )}
          {request !== undefined && !isReply && <RequestPart request={request} columns={columns} hits={hits} />}
          {details.length > 0 && (
            <span class="row-details cut" title={details.map(([name, value]) => `${name}=${value}`).join('  ')}>
              {details.map(([name, value], at) => (
                <span key={at}>
                  <Hits text={`${name}=${value}`} hits={hits} />
                </span>
              ))}
            </span>
          )}
        </span>
        <span role="gridcell" class="row-icons">
          {entry.has_feedback === true && (
            <span title="A user commented">
              <Icon name="feedback" />
              <span class="visually-hidden">a user commented</span>
            </span>
          )}
          {breadcrumbs !== undefined && (
            <span title={formatPlural(breadcrumbs, 'breadcrumb')}>
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

function Hits({ text, hits }: { text: string; hits: SplitHits }) {
  return <>{hits(text).map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</>
}

interface RequestProps {
  readonly request: NonNullable<EntrySummary['request']>
  readonly columns: readonly string[]
  readonly hits: SplitHits
}

function RequestPart({ request, columns, hits }: RequestProps) {
  const { method = '', path = '', status_code: status, duration_ms: durationMs } = request
  const hasNo = (...names: readonly string[]): boolean => !names.some((name) => columns.includes(name))
  // A long path is cut in the middle: its last part tells more than its first.
  const tailAt = path.lastIndexOf('/', path.length - 2)
  const tail = tailAt > 0 && path.length - tailAt <= MAX_TAIL ? path.slice(tailAt) : ''
  return (
    <span class="row-request">
      {hasNo('path', 'route', 'url') ? (
        <span class="row-path" title={`${method} ${path}`}>
          <span class="cut">
            {method} <Hits text={path.slice(0, path.length - tail.length)} hits={hits} />
          </span>
          <span>
            <Hits text={tail} hits={hits} />
          </span>
        </span>
      ) : (
        hasNo('method') && <span>{method}</span>
      )}
      {status !== undefined && hasNo('status') && (
        <span data-level={status >= 500 ? 'error' : status >= 400 ? 'warn' : undefined}>{status}</span>
      )}
      {durationMs !== undefined && hasNo('duration') && <span class="faint">{formatDuration(durationMs)}</span>}
    </span>
  )
}

export function ListHead({ columns }: { columns: readonly string[] }) {
  return (
    <div role="row" aria-rowindex={1} class="row list-head">
      <span role="columnheader">
        Time <span class="zone">({formatZone(findLocalOffset(Date.now()))})</span>
      </span>
      <span role="columnheader">Level</span>
      <span role="columnheader" class="row-service">
        Service
      </span>
      {columns.map((name) => (
        <span key={name} role="columnheader" class="row-column column-head">
          <span class="cut" title={name}>
            {formatColumnTitle(name)}
          </span>
          <button
            type="button"
            aria-label={`Remove the column ${name}`}
            onClick={() => {
              keepFocus('.column-head button')
              navigate({ columns: columns.filter((one) => one !== name) })
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <span role="columnheader">Message</span>
      <span role="columnheader">
        <span class="visually-hidden">Marks</span>
      </span>
    </div>
  )
}
