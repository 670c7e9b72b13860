/** The README stays short, and its numbers are those of the page about benchmarks. */
import { expect, test } from 'vitest'
import { readText, sectionOf } from '../markdown.js'

test('the README has at most 220 lines', () => {
  expect(readText('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(220)
})

test('its benchmark ratios are in docs/benchmarks.md', () => {
  const ratios = sectionOf('README.md', 'Benchmarks').match(/[\d.]+\s\([\d.]+\sto\s[\d.]+\)/g) ?? []
  expect(ratios).toHaveLength(5)
  const page = readText('docs/benchmarks.md')
  expect(ratios.filter((ratio) => !page.includes(ratio.replaceAll(/\s/g, ' ')))).toEqual([])
})
