/** Only breadcrumbs: lines are buffered, and an error takes the last 50 of its scope. */
import { systemClock } from '../../build/modules/shared/clock.js'
import { BreadcrumbFactory } from '../../build/modules/breadcrumbs/breadcrumb-factory.js'
import { BreadcrumbBuffer } from '../../build/modules/breadcrumbs/breadcrumb-buffer.js'
import { cpuUs, mustBe } from '../tools/measure.mjs'
import { MAPPING, SETTINGS, newMapper } from './configured.mjs'
import { TAKEN } from './measure.mjs'

/** The line of the error that takes them; its own cost belongs to the mapping. */
const ERROR_LINE =
  '{"level":50,"time":1795219200000,"pid":4242,"hostname":"web-1","orderId":100000,"msg":"payment failed"}'

/** @param {readonly string[]} lines */
export function passesOfBreadcrumbs(lines) {
  return { 'breadcrumbs: one scope': kept(lines), 'breadcrumbs: taken': taken(lines) * lines.length }
}

const LINE = { isMappedByKernel: true, isFreeOfSecrets: true, isBreadcrumb: false }

/** All in one scope, within the default memory limit. @param {readonly string[]} lines */
function kept(lines) {
  const { limit, maxBytes } = breadcrumbSettings()
  const { lines: ring } = newMapper()
  const buffer = new BreadcrumbBuffer({ ring, limit, maxBytes, clock: systemClock })
  const places = placesOf(lines, ring)
  const from = process.cpuUsage()
  buffer.open()
  for (const place of places) buffer.add({ scopeKind: 'process', scopeId: '' }, place)
  const us = cpuUs(from)
  if (buffer.take('process', '').length === 0) throw new Error('the buffer is empty')
  return us
}

/** @param {readonly string[]} lines @returns {number} µs per error */
function taken(lines) {
  const mapper = newMapper()
  const { maxBytes } = breadcrumbSettings()
  const factory = new BreadcrumbFactory(MAPPING, mapper, () => systemClock.wallNow())
  const scopes = Math.floor(lines.length / TAKEN)
  if (scopes === 0) throw new RangeError(`at least ${TAKEN} records are needed, one error takes as many`)
  let us = 0
  for (let scope = 0; scope < scopes; scope += 1) {
    const buffer = new BreadcrumbBuffer({ ring: mapper.lines, limit: TAKEN, maxBytes, clock: systemClock })
    for (const place of placesOf(lines.slice(scope * TAKEN, (scope + 1) * TAKEN), mapper.lines))
      buffer.add({ scopeKind: 'process', scopeId: '' }, place)
    const { bytes } = mapper.map(mapper.lines.place(ERROR_LINE))
    const from = process.cpuUsage()
    const made = buffer.take('process', '')
    if (bytes === undefined || !factory.append(bytes, made)) throw new Error('the breadcrumbs do not fit')
    us += cpuUs(from)
    mustBe(made.length, TAKEN)
  }
  return us / scopes
}

/** @param {readonly string[]} lines @param {import('../../src/record/line-ring.js').LineRing} ring */
function placesOf(lines, ring) {
  return lines.map((text) => {
    const { position, start, end } = ring.place(text)
    return { ...LINE, position, bytes: end - start }
  })
}

function breadcrumbSettings() {
  const { breadcrumbs } = SETTINGS
  if (breadcrumbs === false) throw new Error('breadcrumbs are off')
  return breadcrumbs
}
