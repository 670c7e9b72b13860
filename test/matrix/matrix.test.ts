/** The tables of docs/compatibility.md match the stored results, which are complete. */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { regionOf } from '../markdown.js'
import { GROUPS, readResults } from './kit/results.mjs'
import { matrixMarkdown } from './kit/table.mjs'

describe('the tables', () => {
  test('match the stored results, and nothing failed', () => {
    const table = matrixMarkdown(readResults())
    expect(regionOf('docs/compatibility.md', 'matrix')).toBe(table.trim())
    expect(table).not.toMatch(/\| *\|/)
    expect(table).not.toContain('✗')
  })

  test('have results of all groups, with each runtime and tool', () => {
    const results = readResults()
    const files = readdirSync(new URL('groups', import.meta.url)).map((file) => file.replace('.mjs', ''))
    expect(GROUPS.toSorted()).toEqual(files.toSorted())
    expect([...new Set(results.map(({ group }) => group))]).toEqual(GROUPS)
    const rows = [...new Set(results.map(({ row }) => row))].join('\n')
    for (const pino of ['9.14', '10'])
      for (const node of [20, 22, 24, 26]) expect(rows).toMatch(new RegExp(`^Node ${node}\\S+ · pino ${pino}`, 'm'))
    for (const name of ['Bun', 'Deno', 'esbuild', 'webpack 5', 'Vite', 'Next', 'Jest', 'vitest', 'pnpm', 'Yarn 4'])
      expect(rows).toMatch(new RegExp(`^${name}`, 'm'))
    for (const name of [
      'Fastify 4',
      'Fastify 5',
      'Express 4',
      'Express 5',
      'NestJS 10',
      'NestJS 11',
      'Koa',
      'hapi',
      'Hono',
    ])
      expect(rows).toMatch(new RegExp(`^${name}`, 'm'))
    for (const version of [6, 7, 8, 9, 10, 11]) expect(rows).toContain(`pino-http ${version}.`)
    for (const name of ['ECS', 'Google Cloud', 'OpenTelemetry', 'dd-trace', 'bunyan', 'winston'])
      expect(rows).toMatch(new RegExp(`^${name}`, 'm'))
  })
})
