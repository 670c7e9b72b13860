/** The reports group a CPU profile and V8's trace by part of the package. */
import { expect, it } from 'vitest'
import { load } from './tools.js'

const { functionsOf, sharesBy } = await load('profile/parts')
const { compilationOf } = await load('profile/compilation')

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 0 })

it('assigns time to the part of its function, and idle time to no part', () => {
  const nodes = [
    frame('scan', 'file:///app/build/modules/record/kernel/kernel.js'),
    frame('index', 'file:///app/build/modules/index.js'),
    frame('scoped', 'file:///app/node_modules/@a/b/build/modules/record/x.js'),
    frame('emit', 'node:events'),
    frame('(garbage collector)'),
    frame('(idle)'),
    frame('RegExp: a+'),
    frame('writev'),
  ].map((callFrame, id) => ({ id, callFrame }))
  const samples = nodes.map(({ id }) => id)
  // A sample lasts until the next one.
  const functions = functionsOf({ nodes, samples: [...samples, 5], timeDeltas: [0, ...samples.map(() => 10), 0] })
  const shares = sharesBy(functions, (of: { part: string }) => of.part)
  const parts = ['@a/b', 'Node', 'garbage collection', 'native functions', 'regular expressions', 'src', 'src/record']
  expect(Object.keys(shares).toSorted()).toEqual(parts)
  for (const share of Object.values(shares)) expect(share).toBeCloseTo(1 / 7)
})

it('counts compilations of the named functions', () => {
  const trace = [
    '[completed compiling 0x2a <JSFunction scan (sfi = 0x1)> (target TURBOFAN) - took 0.5, 12.0, 0.25 ms]',
    '[completed compiling 0x2b <JSFunction other (sfi = 0x1)> (target TURBOFAN) - took 0.5, 12.0, 0.25 ms]',
    '[completed optimizing 0x2a <JSFunction scan (sfi = 0x1)> (target TURBOFAN)]',
    '[bailout (kind: deopt-eager, reason: wrong map): begin. deoptimizing 0x2a <JSFunction scan (sfi = 0x1)>, 0x3 <Code TURBOFAN>',
  ].join('\n')
  expect(compilationOf(trace, new Set(['scan']))).toEqual({
    optimized: 1,
    onThreadMs: 0.75,
    besideMs: 12,
    deoptimized: 1,
    reasons: { 'wrong map': 1 },
  })
})
