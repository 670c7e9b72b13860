/** An entry as a row of the list. */
import { Component } from 'preact'
import type { EntrySummary } from '../../query/api-types.js'
import { duration, fullTime, plural, shortTime } from '../view-format.js'
import { Icon } from '../icons.js'

interface RowProps {
  readonly entry: EntrySummary
  readonly index: number
  readonly isSelected: boolean
  readonly onOpen: (id: string) => void
}

const MAX_TAGS = 3

/** A class for `shouldComponentUpdate`: an entry never changes. */
export class Row extends Component<RowProps> {
  /** For screen readers and scripts; the list handles the pointer itself. */
  readonly #onClick = ({ detail }: MouseEvent): void => {
    if (detail === 0) this.props.onOpen(this.props.entry.id)
  }

  override shouldComponentUpdate(next: RowProps): boolean {
    const { entry, index, isSelected } = this.props
    return next.entry !== entry || next.index !== index || next.isSelected !== isSelected
  }

  override render() {
    const { entry, index, isSelected } = this.props
    const { id, seq, timestamp, level, service, message, error, request, tags = [], breadcrumbs } = entry
    return (
      <div
        role="row"
        id={`row-${seq}`}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        data-entry={id}
        class={`row row-${level}`}
        onClick={this.#onClick}
      >
        <span role="gridcell" class="row-time" title={fullTime(timestamp)}>
          {shortTime(timestamp)}
        </span>
        <span role="gridcell" class="row-level">
          <span class={`level level-${level}`}>{level}</span>
        </span>
        <span role="gridcell" class="row-service cut" title={service}>
          {service}
        </span>
        <span role="gridcell" class="row-text">
          <span class="row-message cut">
            {error?.type !== undefined && <b class="row-type">{error.type}</b>}
            {message}
            {error?.message !== undefined && error.message !== message && (
              <span class="row-cause">{error.message}</span>
            )}
          </span>
          {request !== undefined && <RequestPart request={request} />}
          {tags.slice(0, MAX_TAGS).map((tag, at) => (
            <span key={at} class="chip row-tag">
              {tag}
            </span>
          ))}
          {tags.length > MAX_TAGS && (
            <span class="chip row-tag" title={tags.slice(MAX_TAGS).join(', ')}>
              +{tags.length - MAX_TAGS}
            </span>
          )}
          {breadcrumbs !== undefined && (
            <span class="row-breadcrumbs" title={plural(breadcrumbs, 'breadcrumb')}>
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

function RequestPart({
  request: { method, path, status_code: status, duration_ms: durationMs },
}: {
  request: NonNullable<EntrySummary['request']>
}) {
  const tone = status === undefined || status < 400 ? '' : status < 500 ? ' warn' : ' bad'
  return (
    <span class="row-request">
      <span class="cut">{[method, path].filter((part) => part !== undefined).join(' ')}</span>
      {status !== undefined && <b class={`status${tone}`}>{status}</b>}
      {durationMs !== undefined && <span class="faint">{duration(durationMs)}</span>}
    </span>
  )
}
