/** A list of names and values: texts with a menu, and links for values that few entries share. */
import type { ComponentChildren } from 'preact'
import { LongText } from './show-more.js'
import { EntriesLink } from './entries-link.js'
import { isFilterable } from './fact.js'
import type { Fact } from './fact.js'
import { ValueMenu } from './value-menu.js'

/** @param children rows with other content than text */
export function Facts({ facts, children }: { readonly facts: readonly Fact[]; readonly children?: ComponentChildren }) {
  return (
    <dl class="facts">
      {facts.map(({ name, value, text = String(value), field, isLink = false }) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>
            {field === undefined || !isLink || !isFilterable(text) ? (
              <LongText text={text} maxChars={400} maxLines={6} />
            ) : (
              <EntriesLink
                class="text"
                name={field}
                value={text}
                title={`All entries with this ${name.toLowerCase()}`}
                isId
              >
                {text}
              </EntriesLink>
            )}
            <ValueMenu name={name} field={field ?? null} value={value} />
          </dd>
        </div>
      ))}
      {children}
    </dl>
  )
}
