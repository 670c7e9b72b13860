/** The programs in the documentation run, each as a user would run it, and do what the text beside them says. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
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

describe.each(DOCUMENTS)('%s', (document) => {
  const folder = new ProgramFolder()
  let service: IngestService

  beforeEach(async () => {
    service = await createIngestService({ apiKeys: [KEY] })
  })
  afterEach(() => service.close())
  afterAll(() => folder.remove())

  const programs = programsOf(document)

  test('each has its expectation', () => {
    const expected = Object.entries(EXPECTED[document] ?? {}).flatMap(([section, list]) =>
      list.map((_one, at) => `${section} ${at}`),
    )
    expect(programs.map(({ section, at }) => `${section} ${at}`).toSorted()).toEqual(expected.toSorted())
  })

  if (programs.length > 0)
    test.each(programs)('$section, line $line', async ({ section, at, code, language }) => {
      const result = await folder.run(code, language === 'cjs' || language === 'ts' ? language : 'mjs', {
        PINO_INGEST_URL: service.url,
        PINO_INGEST_API_KEY: KEY,
      })
      // The watched transport may report its account, and nothing else.
      expect(result.stderr).toMatch(section === 'Events' ? /^(?:pending \d+\n)*$/ : /^$/)
      expect(result.code).toBe(0)
      EXPECTED[document]?.[section]?.[at]?.({ ...result, service })
    })
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

test('no expectation is left without its document', () => {
  expect(DOCUMENTS).toEqual(expect.arrayContaining(Object.keys(EXPECTED)))
})
