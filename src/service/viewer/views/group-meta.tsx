/** Facts of an error group: whether it is new, route, versions and users. */
import type { ErrorGroup } from '../../query/api-types.js'
import { truncate } from '../detail/tree.js'
import { addTerm } from '../../query/language/index.js'
import { useView } from '../use-view.js'
import { FeedbackMark } from './feedback-mark.js'
import { formatPlural } from '../view-format.js'
import { createHref } from '../view.js'

export function GroupMeta({ group }: { readonly group: ErrorGroup }) {
  const { is_new: isNew, route, is_given: isGiven, fingerprint } = group
  const versions = versionsText(group)
  return (
    <div class="group-meta">
      {isNew && (
        <span class="mark-new" title="First seen in the latest version">
          new
        </span>
      )}
      {route !== null && <code>{truncate(route, 120)}</code>}
      <FeedbackMark count={group.feedback} />
      {versions !== null && <span>{versions}</span>}
      {isGiven && <span title={truncate(fingerprint, 200)}>own fingerprint</span>}
      <Users group={group} />
    </div>
  )
}

/** Users, as links to all errors of the same user. */
function Users({ group: { top_users: users, users: total } }: { readonly group: ErrorGroup }) {
  const view = useView()
  if (users.length === 0) return null
  return (
    <ul class="group-users" aria-label="Users">
      {users.map(({ user, count: entries }) => (
        <li key={user}>
          <a
            href={createHref({ ...view, name: 'errors', q: addTerm(view.q, 'user', user), entry: null })}
            title={`All errors of ${truncate(user, 100)}; ${formatPlural(entries, 'entry', 'entries')} here`}
          >
            {truncate(user, 40)}
          </a>
          {entries > 1 && <span class="faint"> ×{entries}</span>}
        </li>
      ))}
      {total > users.length && <li class="faint">and {total - users.length} more</li>}
    </ul>
  )
}

function versionsText({ first_version: first, last_version: last }: ErrorGroup): string | null {
  if (first === null || last === null) return null
  return first === last ? `version ${truncate(first, 40)}` : `versions ${truncate(first, 40)} to ${truncate(last, 40)}`
}
