/** Names with their values: short texts that can be copied, and are links where there is a filter. */
import type { ComponentChildren } from 'preact'
import { LongText } from './show-more.js'
import { Copy } from './copy.js'
import { EntriesLink } from './entries-link.js'
import { isFilterable } from './fact.js'
import type { Fact } from './fact.js'

/** `children`: rows with other content than text. */
export function Facts({ facts, children }: { readonly facts: readonly Fact[]; readonly children?: ComponentChildren }) {
  return (
    <dl class="facts">
      {facts.map(({ name, value, filter }) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>
            {filter === undefined || !isFilterable(value) ? (
              <LongText text={value} maxChars={400} maxLines={6} />
            ) : (
              <EntriesLink
                class="text"
                name={filter}
                value={value}
                title={`All entries with this ${name.toLowerCase()}`}
              >
                {value}
              </EntriesLink>
            )}
            <span class="fact-actions">
              <Copy label="copy" name={`Copy ${name}`} text={() => value} />
            </span>
          </dd>
        </div>
      ))}
      {children}
    </dl>
  )
}
