/** Only breadcrumbs: lines are buffered, and an error takes the last 50 of its scope. */
import { systemClock } from '../../build/modules/shared/clock.js'
import { appendBreadcrumbs } from '../../build/modules/breadcrumbs/attach-breadcrumbs.js'
import { BreadcrumbFactory } from '../../build/modules/breadcrumbs/breadcrumb-factory.js'
import { BreadcrumbBuffer } from '../../build/modules/breadcrumbs/breadcrumb-buffer.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { MAPPING, SETTINGS, newMapper } from './configured.mjs'
import { TAKEN } from './measure.mjs'

/** @typedef {import('../tools/shapes.mjs').Line} Line */

const PLENTY_BYTES = 1024 ** 3

/** The line of the error that takes them; its own cost belongs to the mapping. */
const ERROR_LINE =
  '{"level":50,"time":1795219200000,"pid":4242,"hostname":"web-1","orderId":100000,"msg":"payment failed"}'

/** @param {readonly Line[]} lines */
export function passesOfBreadcrumbs(lines) {
  return { 'breadcrumbs: one scope': kept(lines), 'breadcrumbs: taken': taken(lines) * lines.length }
}

const LINE = { isMappedByKernel: true, isFreeOfSecrets: true }

/** All in one scope, within the default memory limit: the oldest chunks are overwritten. @param {readonly Line[]} lines */
function kept(lines) {
  const { limit, maxBytes } = breadcrumbSettings()
  const buffer = new BreadcrumbBuffer({ limit, maxBytes, clock: systemClock })
  let last = ''
  const from = process.cpuUsage()
  for (const { text, start, end } of lines) {
    if (text !== last) buffer.open()
    last = text
    buffer.add({ ...LINE, scopeKind: 'process', scopeId: '' }, text, start, end)
  }
  const us = cpuUs(from)
  // The last chunk may have fewer lines than an error takes.
  if (buffer.take('process', '').length === 0) throw new Error('the buffer is empty')
  return us
}

/** @param {readonly Line[]} lines @returns {number} µs per error */
function taken(lines) {
  const buffer = new BreadcrumbBuffer({
    limit: TAKEN,
    maxBytes: PLENTY_BYTES,
    maxScopes: lines.length,
    clock: systemClock,
  })
  const scopes = Math.floor(lines.length / TAKEN)
  if (scopes === 0) throw new RangeError(`at least ${TAKEN} records are needed, one error takes as many`)
  for (const [n, { text, start, end }] of lines.slice(0, scopes * TAKEN).entries())
    buffer.add({ ...LINE, scopeKind: 'request', scopeId: String(Math.floor(n / TAKEN)) }, text, start, end)
  const mapper = newMapper()
  const { json } = mapper.map(ERROR_LINE, 0, ERROR_LINE.length)
  const factory = new BreadcrumbFactory(MAPPING, () => systemClock.wallNow())
  const bounds = { limit: TAKEN, maxEntryBytes: SETTINGS.maxEntryBytes }
  let count = 0
  let attached = 0
  const from = process.cpuUsage()
  for (let scope = 0; scope < scopes; scope += 1) {
    const made = buffer.take('request', String(scope)).map((line) => factory.create(line))
    count += made.length
    if (appendBreadcrumbs(json, made, bounds) !== undefined) attached += 1
  }
  const us = cpuUs(from)
  mustBe(count, scopes * TAKEN)
  mustBe(attached, scopes)
  return us / scopes
}

function breadcrumbSettings() {
  const { breadcrumbs } = SETTINGS
  if (breadcrumbs === false) throw new Error('breadcrumbs are off')
  return breadcrumbs
}
