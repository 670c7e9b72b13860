/** The programs in the documentation run, each as a user would run it, and do what the text beside them says. */
import { expect, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import { DOCUMENTS, codeBlocks } from '../markdown.js'
import type { CodeBlock } from '../markdown.js'
import { EXPECTED } from './expected.js'
import { ProgramFolder } from './program-folder.js'

const KEY = 'readme-key-51c3e9'

const PROGRAM = /^(?:js|cjs|mjs|ts|typescript|javascript)$/

/** Sections with pieces of the reader's own tests, and with a framework that only `test/matrix` installs. */
const PIECES: readonly string[] = ['In your tests', 'Jest and vitest', 'Next.js']

interface Program extends CodeBlock {
  /** Its number within its section, from 0. */
  readonly at: number
}

function programsOf(document: string): Program[] {
  const nth = new Map<string, number>()
  return codeBlocks(document)
    .filter(({ language, section }) => PROGRAM.test(language) && !PIECES.includes(section))
    .map((block) => {
      const at = nth.get(block.section) ?? 0
      nth.set(block.section, at + 1)
      return { ...block, at }
    })
}

const WITH_PROGRAMS = DOCUMENTS.filter((document) => programsOf(document).length > 0)

// Those of a page run in turn, because one may use the file of another.
test.concurrent.for(WITH_PROGRAMS)('%s', { timeout: 240_000 }, async (document, { onTestFinished }) => {
  const programs = programsOf(document)
  const folder = new ProgramFolder()
  onTestFinished(() => folder.remove())
  for (const { section, at, line, code, language } of programs) {
    const where = `${document}:${line}`
    const service = await createIngestService({ apiKeys: [KEY] })
    const result = await folder.run(code, language === 'cjs' || language === 'ts' ? language : 'mjs', {
      PINO_INGEST_URL: service.url,
      PINO_INGEST_API_KEY: KEY,
      // A busy machine needs longer than the default for what is sent at the exit.
      PINO_INGEST_SHUTDOWN_TIMEOUT_MS: '8000',
    })
    // The watched transport may report its account, and nothing else.
    expect(result.stderr, where).toMatch(section === 'Events' ? /^(?:pending \d+\n)*$/ : /^$/)
    expect(result.code, where).toBe(0)
    EXPECTED[document]?.[section]?.[at]?.({ ...result, service })
    await service.close()
  }
})

test('each program has its expectation', () => {
  const programs = DOCUMENTS.flatMap((document) =>
    programsOf(document).map(({ section, at }) => `${document} ${section} ${at}`),
  )
  const expected = Object.entries(EXPECTED).flatMap(([document, sections]) =>
    Object.entries(sections).flatMap(([section, list]) => list.map((_one, at) => `${document} ${section} ${at}`)),
  )
  expect(programs.toSorted()).toEqual(expected.toSorted())
})

test('programs import what the package exports, also those that are not run', async () => {
  const modules: Readonly<Record<string, object>> = {
    'pino-ingest': await import('../../src/index.js'),
    'pino-ingest/client': await import('../../src/client/index.js'),
    'pino-ingest/service': await import('../../src/service/index.js'),
  }
  const imported = DOCUMENTS.flatMap((document) => codeBlocks(document)).flatMap(({ code }) =>
    [...code.matchAll(/^import \{ ([^}]+) \} from '(pino-ingest[^']*)'/gm)].flatMap(([, names = '', from = '']) =>
      names.split(', ').map((name) => ({ name, from })),
    ),
  )
  expect(imported.length).toBeGreaterThan(50)
  expect(imported.filter(({ name, from }) => !Object.hasOwn(modules[from] ?? {}, name))).toEqual([])
})
