/** Formats the help of a command as text and JSON. Pure. */
import type { Command, Flags } from './command.js'

type HelpOf = Pick<Command, 'examples' | 'usage' | 'summary' | 'flags' | 'notes'>

type CommandList = Readonly<Record<string, { readonly summary: string }>>

export function formatHelp(command: HelpOf, commands: CommandList = {}): string {
  const sections = [
    command.summary,
    formatSection('Examples:', command.examples),
    ['Usage:', ...command.usage.map((line) => `  ${line}`)].join('\n'),
    formatSection(
      'Commands:',
      Object.entries(commands).map(([name, { summary }]) => [name, summary]),
    ),
    formatSection('Flags:', toFlagRows(command.flags)),
    ...command.notes,
  ]
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`
}

export function toHelpData(command: HelpOf, commands: CommandList = {}): object {
  return {
    summary: command.summary,
    examples: command.examples.map(([line, meaning]) => ({ line, meaning })),
    usage: command.usage,
    commands: Object.entries(commands).map(([name, { summary }]) => ({ name, summary })),
    flags: Object.entries(command.flags).map(([name, flag]) => ({ name, ...flag })),
    notes: command.notes,
  }
}

function toFlagRows(flags: Flags): [string, string][] {
  return Object.entries(flags).map(([name, { short, value, meaning }]) => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    meaning,
  ])
}

function formatSection(title: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return ''
  const width = Math.max(...rows.map(([left]) => left.length))
  return [title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join('\n')
}
