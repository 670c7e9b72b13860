/** Runtimes in which the kernel cannot run: the reference path maps all lines. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const modules = fileURLToPath(new URL('../../../build/modules/', import.meta.url))
const PROGRAM = `
  const { Mapper } = require(${JSON.stringify(modules)} + 'record/mapper.js')
  const { PINO_LEVELS } = require(${JSON.stringify(modules)} + 'record/coerce.js')
  const { Redactor } = require(${JSON.stringify(modules)} + 'redaction/redactor.js')
  const redactor = new Redactor({ patterns: [], keys: [] })
  const requestKeys = { req: 'req', res: 'res', responseTime: 'responseTime', reqId: 'reqId' }
  const options = { messageKey: 'msg', errorKey: 'err', requestKeys, levels: PINO_LEVELS, tags: [], metadata: {}, fingerprint: false, maxEntryBytes: 262144, redactor }
  const line = '{"level":30,"time":1763700000123,"a":1,"msg":"m"}'
  const mapper = new Mapper(options, -1, () => 0)
  const { isMappedByKernel, json } = mapper.map(mapper.lines.place(line))
  console.log(JSON.stringify([isMappedByKernel, JSON.parse(json)]))`
const ENTRY = { level: 'info', message: 'm', timestamp: '2025-11-21T04:40:00.123Z', metadata: { a: 1 } }

function run(command: string, args: readonly string[]): unknown {
  return JSON.parse(execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
}

test('the kernel maps a usual line', () => {
  expect(run(process.execPath, ['-e', PROGRAM])).toEqual([true, ENTRY])
})

test('without WebAssembly', () => {
  expect(run(process.execPath, ['--jitless', '-e', PROGRAM])).toEqual([false, ENTRY])
})

test.runIf(process.platform === 'linux')('with too little address space', () => {
  const script = 'ulimit -v 6000000 && exec "$0" -e "$1"'
  // Node 24 reserves less for WebAssembly, so there the kernel maps the line.
  const isMappedByKernel = Number(process.versions.node.split('.')[0]) >= 24
  expect(run('bash', ['-c', script, process.execPath, PROGRAM])).toEqual([isMappedByKernel, ENTRY])
})
