/** The applications of each mode, in each module system. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const repeat = (/** @type {string} */ method) =>
  `for (let n = 0; n < 1000; n += 1) logger.${method}({ n }, 'one of 1,000')`
const target = (/** @type {string} */ options) => `const logger = pino({ transport: ${options} })\n${repeat('info')}`

/** @type {Readonly<Record<string, (suffix: string) => string>>} */
const SOURCES = {
  target: () => target(`{ target: 'pino-ingest', options: { service: 'target' } }`),
  targets: () => `const logger = pino({
  level: 'debug',
  transport: {
    targets: [
      { target: 'pino-ingest', level: 'debug', options: { sendLevel: 'debug' } },
      { target: 'pino/file', level: 'fatal', options: { destination: 1 } },
    ],
  },
})
${repeat('debug')}`,
  pipeline: (suffix) =>
    target(`{ pipeline: [{ target: join(process.cwd(), 'through.${suffix}') }, { target: 'pino-ingest' }] }`),
  stream: () => `const logger = pino(ingestStream({ service: 'stream' }))\n${repeat('info')}`,
  pipe: () => `const logger = pino()\n${repeat('info')}`,
}
const THROUGH = `() => build((source) => {
  const through = new Transform({
    objectMode: true, autoDestroy: true,
    transform: (record, _encoding, done) => done(null, JSON.stringify({ ...record, seen: true }) + '\\n'),
  })
  source.pipe(through)
  return through
}, { enablePipelining: true })`
/** @type {Readonly<Record<string, string>>} */
const IMPORTS = {
  pino: 'pino',
  '{ ingestStream }': 'pino-ingest',
  '{ join }': 'node:path',
  '{ Transform }': 'node:stream',
  build: 'pino-abstract-transport',
}

/** Writes `target.mjs`, `target.cjs` and so on. @param {string} folder */
export function writeModes(folder) {
  mkdirSync(folder, { recursive: true })
  for (const suffix of ['mjs', 'cjs']) {
    const write = (/** @type {string} */ name, /** @type {string} */ source) => {
      const imports = Object.entries(IMPORTS)
        .filter(([one]) => new RegExp(`\\b${one.replaceAll(/\W/g, '')}\\(`).test(source))
        .map(([one, from]) => (suffix === 'cjs' ? `const ${one} = require('${from}')` : `import ${one} from '${from}'`))
      writeFileSync(join(folder, `${name}.${suffix}`), [...imports, source, ''].join('\n'))
    }
    for (const [name, toSource] of Object.entries(SOURCES)) write(name, toSource(suffix))
    write('through', `${suffix === 'cjs' ? 'module.exports =' : 'export default'} ${THROUGH}`)
  }
}
