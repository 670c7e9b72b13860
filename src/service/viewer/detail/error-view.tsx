/** An entry's error: type, message, other properties, stack. */
import type { EntryError, Json, LogEntry } from '../../../protocol/log-entry.js'
import { LongText, Many } from './show-more.js'
import { listMemberStacks, listProperties } from './error-parts.js'
import { createFacts } from './fact.js'
import { Facts } from './facts.js'
import { StackView } from './stack-view.js'
import { truncate } from './tree.js'
import { toMetadataField } from './value-field.js'
import { ValueMenu } from './value-menu.js'

export function ErrorPart({ error, entry }: { readonly error: EntryError; readonly entry: LogEntry }) {
  const { type, message, stack } = error
  const more: Json | undefined = entry.metadata?.['error']
  const properties = listProperties(more)
  const members = listMemberStacks(more)
  return (
    <div class="error">
      {type !== undefined && type !== '' && (
        <p class="error-title">
          <b>{truncate(type, 200)}</b> <ValueMenu name="Error type" field="error.type" value={type} />
        </p>
      )}
      {message !== undefined && message !== entry.message && (
        <div class="error-message">
          <LongText text={message} />
          <ValueMenu name="Error message" field="error.message" value={message} />
        </div>
      )}
      {Object.keys(properties).length > 0 && (
        <Facts
          facts={createFacts(
            Object.entries(properties).map(([key, value]) => [key, toMetadataField(['error', key]), value]),
          )}
        />
      )}
      {stack !== undefined && stack !== '' && <StackView stack={stack} type={type} message={message} />}
      {members.length > 0 && (
        <Many items={members} step={5} noun="errors">
          {(shown) =>
            shown.map((member, index) => (
              <div key={index} class="member">
                <span class="stack-label">
                  error {index + 1} of {members.length}
                </span>
                <StackView stack={member} />
              </div>
            ))
          }
        </Many>
      )}
    </div>
  )
}
