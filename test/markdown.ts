/** Reads the project's Markdown, for the tests that hold it to its word. Paths are relative to the project's root. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** For users of the package, which contains them. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(`${root}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .toSorted(),
]

/** Also those for contributors: the README of a folder. */
export const DOCUMENTS: readonly string[] = [
  ...PAGES,
  ...(readdirSync(`${root}src`, { recursive: true }) as string[])
    .filter((name) => name.endsWith('README.md'))
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .toSorted(),
]

export interface CodeBlock {
  readonly language: string
  readonly code: string
  /** Title of the section that contains it. */
  readonly section: string
  /** Line of its first line of code, from 1. */
  readonly line: number
}

export function readText(path: string): string {
  return readFileSync(root + path, 'utf8')
}

export function codeBlocks(path: string): CodeBlock[] {
  const text = readText(path)
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const before = text.slice(0, match.index)
    return {
      language: match[1] ?? '',
      code: match[2] ?? '',
      section: titlesIn(before).at(-1) ?? '',
      line: before.split('\n').length + 1,
    }
  })
}

/** Without code blocks, in which a `#` is a comment and brackets are no links. */
export function prose(path: string): string {
  return withoutCode(readText(path))
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '')
}

function titlesIn(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map((match) => match[1] as string)
}

export function headingsOf(path: string): string[] {
  return titlesIn(readText(path))
}

/** As GitHub makes them. */
export function anchorsOf(path: string): string[] {
  return headingsOf(path).map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The section below a heading, up to the next one of any depth. */
export function sectionOf(path: string, title: string): string {
  const text = prose(path)
  const from = text.indexOf(`# ${title}\n`)
  if (from === -1) throw new Error(`${path} has no section ${title}`)
  const rest = text.slice(from + title.length + 3)
  const end = rest.search(/^#+ /m)
  return end === -1 ? rest : rest.slice(0, end)
}

/** The text between `<!-- name -->` and `<!-- /name -->`. */
export function regionOf(path: string, name: string): string {
  const found = regionPattern(name).exec(readText(path))?.[2]
  if (found === undefined) throw new Error(`${path} has no <!-- ${name} --> with a <!-- /${name} --> after it`)
  return found.trim()
}

export function writeRegion(path: string, name: string, content: string): void {
  const text = readText(path).replace(
    regionPattern(name),
    (_all, start: string, _old, end: string) => `${start}\n${content}\n${end}`,
  )
  writeFileSync(root + path, text)
}

function regionPattern(name: string): RegExp {
  return new RegExp(`(<!-- ${name} -->)\\n([\\s\\S]*?)(<!-- /${name} -->)`)
}
