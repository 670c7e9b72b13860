/** Prints the results as Markdown. */
import { missed } from './scenarios.mjs'
import { OURS } from './stage.mjs'

/**
 * @typedef {{ scenario: string, subject: string, outcome?: import('./stage.mjs').Outcome, failure?: string }} Result
 * @param {{ scenarios: readonly import('./scenarios.mjs').Scenario[], peers: readonly import('./peers.mjs').Subject[], results: readonly Result[] }} all
 * @returns {boolean} whether pino-ingest meets all requirements
 */
export function print({ scenarios, peers, results }) {
  const names = [...peers.map(({ name }) => name), OURS.name]
  const find = (/** @type {string} */ key, /** @type {string} */ name) =>
    results.find(({ scenario, subject }) => scenario === key && subject === name)
  const isMissing = (/** @type {string} */ name) =>
    peers.some((peer) => peer.name === name && peer.version === undefined)
  const verdicts = new Map(
    scenarios.map((scenario) => {
      const result = find(scenario.key, OURS.name)
      return [
        scenario.key,
        result?.outcome === undefined ? [`did not run: ${result?.failure}`] : missed(scenario, result.outcome),
      ]
    }),
  )

  say('\n## Records lost, or lost/duplicated\n')
  table(
    ['scenario', ...names, 'must be', 'holds?'],
    scenarios.map((scenario) => {
      const { key, name, mustBe, isOursOnly } = scenario
      const ours = find(key, OURS.name)?.outcome
      const cells = names.map((subject) => {
        if (isOursOnly === true && subject !== OURS.name) return '—'
        return isMissing(subject) ? 'not installed' : counts(find(key, subject))
      })
      return [
        `${name} (${thousands(ours?.expected ?? 0)})`,
        ...cells,
        mustBe,
        (verdicts.get(key) ?? []).length === 0 ? 'yes' : '**no**',
      ]
    }),
  )

  say('\n## Peak of resident memory, MiB\n')
  table(
    ['scenario', ...names],
    scenarios.map(({ key, name }) => [
      name,
      ...names.map((subject) => String(find(key, subject)?.outcome?.peakRssMib ?? '—')),
    ]),
  )

  say(`\n## The account of ${OURS.name}, as the application last heard it\n`)
  table(
    [
      'scenario',
      'received',
      'recovered',
      'generated',
      'accepted',
      'rejected',
      'dropped',
      'filtered',
      'pending',
      'balances',
    ],
    scenarios.flatMap(({ key, name }) => {
      const { account, nextAccount } = find(key, OURS.name)?.outcome ?? {}
      return [
        ...(account === undefined ? [] : [accountRow(name, account)]),
        ...(nextAccount === undefined ? [] : [accountRow(`${name}: next start`, nextAccount)]),
      ]
    }),
  )

  say(`\n## Beside the counts, ${OURS.name}\n`)
  for (const { key, name } of scenarios) {
    const outcome = find(key, OURS.name)?.outcome
    if (outcome === undefined) continue
    const { lostAtExit, mayDuplicate, deadLettered, early, notes = [] } = outcome
    const facts = [
      lostAtExit === undefined ? [] : `${thousands(lostAtExit)} left for the next start`,
      mayDuplicate === undefined || mayDuplicate === Infinity ? [] : `${mayDuplicate} entries in flight at the fault`,
      deadLettered === undefined ? [] : `${deadLettered} dead letters`,
      early === undefined ? [] : `${early} requests early`,
      notes,
    ].flat()
    if (facts.length > 0) say(`- ${name}: ${facts.join('; ')}`)
  }
  for (const { subject, scenario, failure } of results)
    if (failure !== undefined) say(`\n${subject}, ${scenario}, did not run: ${failure}`)

  const misses = [...verdicts].filter(([, reasons]) => reasons.length > 0)
  if (misses.length > 0) say('\n## Missed\n')
  for (const [key, reasons] of misses)
    say(`- ${key}: ${reasons.slice(0, 5).join('; ')}${reasons.length > 5 ? `; ${reasons.length - 5} more` : ''}`)
  return misses.length === 0
}

/** @param {string} name @param {any} account */
function accountRow(
  name,
  { received, recovered, generated, accepted, rejected, dropped, filtered, pending, balances },
) {
  const reasons =
    Object.entries(dropped)
      .filter(([, count]) => count > 0)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(', ') || '0'
  return [
    name,
    received,
    recovered,
    generated,
    accepted,
    rejected,
    reasons,
    filtered,
    pending,
    balances ? 'yes' : '**no**',
  ].map(String)
}

/** @param {Result | undefined} result */
function counts(result) {
  if (result?.outcome === undefined) return 'failed'
  const { lost, duplicated, isMeasure } = result.outcome
  if (isMeasure === true) return '—'
  return duplicated === 0 ? thousands(lost) : `${thousands(lost)}/${thousands(duplicated)}`
}

/** @param {number} value */
function thousands(value) {
  return value.toLocaleString('en-US')
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  for (const cells of [head, head.map(() => '---'), ...rows]) say(`| ${cells.join(' | ')} |`)
}

/** @param {string} line */
function say(line) {
  process.stdout.write(`${line}\n`)
}
