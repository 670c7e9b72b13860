/** Settings of the stages: the transport's defaults, and the options that applications usually set. */
import { systemClock } from '../../build/modules/shared/clock.js'
import { resolveOptions } from '../../build/modules/options/resolve-options.js'
import { EntryBuilder } from '../../build/modules/pipeline/entry-builder.js'
import { createMappingOptions } from '../../build/modules/pipeline/mapping-options.js'
import { Mapper } from '../../build/modules/record/mapper.js'
import { RequestJoiner } from '../../build/modules/request-logs/request-joiner.js'

const GIVEN = {
  url: 'http://127.0.0.1:9/api/v1',
  apiKey: 'bench',
  service: 'shop',
  environment: 'production',
  version: '1.0.0',
}

export const SETTINGS = resolveOptions(GIVEN, {
  env: {},
  readFile: () => {
    throw new Error('no option names a file')
  },
})
export const MAPPING = createMappingOptions(SETTINGS, undefined)

/** Every line is sent. */
export function newMapper() {
  return new Mapper(MAPPING, -1, () => systemClock.wallNow())
}

/** As in the worker. @param {Mapper} mapper @param {boolean} hasBreadcrumbs */
export function newEntryBuilder(mapper, hasBreadcrumbs) {
  const fail = (/** @type {string} */ problem) => {
    throw new Error(problem)
  }
  return new EntryBuilder({
    settings: hasBreadcrumbs ? SETTINGS : { ...SETTINGS, breadcrumbs: false },
    mapping: MAPPING,
    clock: systemClock,
    mapper,
    joiner: new RequestJoiner({ clock: systemClock, ...MAPPING }),
    requests: undefined,
    hook: undefined,
    onProblem: fail,
    onSummary: fail,
  })
}
