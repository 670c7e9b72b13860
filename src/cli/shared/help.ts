/** Formats the help of a command as text and JSON. Pure. */
import type { Command, Flags } from './command.js'

type HelpOf = Pick<Command, 'examples' | 'usage' | 'flags' | 'notes'>

type CommandList = Readonly<Record<string, { readonly summary: string }>>

const DEFAULT_COLUMNS = 80

export function formatHelp(
  { examples, usage, flags = {}, notes = [] }: HelpOf,
  command: string,
  heading: string,
  commands: CommandList = {},
  columns = DEFAULT_COLUMNS,
): string {
  const sections = [
    wrap(`${heading.slice(0, 1).toUpperCase()}${heading.slice(1)}.`, columns),
    formatSection('Examples:', examples, columns),
    ['Usage:', ...(usage ?? [`${command} [FLAGS]`]).map((line) => `  ${line}`)].join('\n'),
    formatSection(
      'Commands:',
      Object.entries(commands).map(([name, { summary }]) => [name, summary]),
      columns,
    ),
    formatSection('Flags:', toFlagRows(flags), columns),
    ...notes.map((note) => wrap(note, columns)),
  ]
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`
}

function toFlagRows(flags: Flags): [string, string][] {
  return Object.entries(flags).map(([name, { short, value, meaning }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    meaning,
  ])
}

/** In two columns; one below the other if the left one takes more than half of the width. */
function formatSection(title: string, rows: readonly (readonly [string, string])[], columns: number): string {
  if (rows.length === 0) return ''
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  const isBelow = width > columns / 2
  const indent = isBelow ? 6 : width + 2
  const lines = rows.map(([left, right]) => {
    const text = wrap(right, columns, indent)
    return `  ${isBelow && right !== '' ? `${left}\n${text}` : `${left.padEnd(width)}${text.trimStart()}`.trimEnd()}`
  })
  return [title, ...lines].join('\n')
}

function wrap(text: string, columns: number, indent = 0): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && indent + line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line += line === '' ? word : ` ${word}`
  }
  return [...lines, line].map((one) => ' '.repeat(indent) + one).join('\n')
}
