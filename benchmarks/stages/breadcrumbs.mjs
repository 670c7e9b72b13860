/** An error takes the last 50 lines of its scope. */
import { systemClock } from '../../build/modules/shared/clock.js'
import { BreadcrumbFactory } from '../../build/modules/breadcrumbs/breadcrumb-factory.js'
import { BreadcrumbRows } from '../../build/modules/breadcrumbs/breadcrumb-rows.js'
import { RowFlag } from '../../build/modules/record/memory.js'
import { cpuUs } from '../tools/measure.mjs'
import { MAPPING, newMapper } from './configured.mjs'
import { TAKEN } from './measure.mjs'

/** The line of the error that takes them; its own cost belongs to the mapping. */
const ERROR_LINE =
  '{"level":50,"time":1795219200000,"pid":4242,"hostname":"web-1","orderId":100000,"msg":"payment failed"}'
const MAX_BYTES = 8 * 1024 * 1024

/** @param {readonly string[]} lines @returns {Record<string, number>} µs for all lines, as if each were an error */
export function passesOfBreadcrumbs(lines) {
  const mapper = newMapper()
  const { lines: ring, kernel } = mapper
  const factory = new BreadcrumbFactory(MAPPING, mapper.lines, () => systemClock.wallNow())
  const rows = new BreadcrumbRows({ ring, threshold: -1, limit: TAKEN, maxBytes: MAX_BYTES })
  kernel?.connectBreadcrumbs((row) => factory.create(rows.read(row)))
  const errors = Math.floor(lines.length / TAKEN)
  if (errors === 0) throw new RangeError(`at least ${TAKEN} records are needed, one error takes as many`)
  let us = 0
  for (let error = 0; error < errors; error += 1) {
    const record = mapper.map(ring.place(ERROR_LINE))
    for (const text of lines.slice(error * TAKEN, (error + 1) * TAKEN)) {
      const { position, start, end } = ring.place(text)
      rows.add(record.scope, 1, { position, bytes: end - start, flags: RowFlag.FREE_OF_SECRETS }, start)
    }
    mapper.map(ring.place(ERROR_LINE))
    const from = process.cpuUsage()
    if (kernel?.appendBreadcrumbs(record, ring.end) !== true) throw new Error('the breadcrumbs do not fit')
    us += cpuUs(from)
  }
  return { 'breadcrumbs: taken': (us / errors) * lines.length }
}
