/** Types for the benchmarks' tools, which are JavaScript and outside this project's type check. */

import type { Logger } from 'pino'

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface Bar {
  label: string
  value: number
  min?: number
  max?: number
  isOurs?: boolean
  note?: string
}
export interface BarChart {
  title: string
  subtitle?: string
  unit: string
  groups: { label: string; bars: Bar[] }[]
}

export interface Series {
  label: string
  points: [number, number][]
  isOurs?: boolean
  isDashed?: boolean
}
export interface LineChart {
  title: string
  subtitle?: string
  x: { label: string; isLog?: boolean }
  y: { label: string; isLog?: boolean; max?: number }
  series: Series[]
  bands?: { label: string; from: number; to: number }[]
}

/** Rendered by `svgOf`. */
export interface Chart {
  title: string
}

export interface Question {
  name: string
  asks: string
  needsLinux?: boolean
  options: Record<string, number>
  quick?: Record<string, number>
  measure: (asked: object) => Promise<unknown>
  lines: (result: unknown) => string[]
  charts?: (result: unknown) => Record<string, Chart>
}

export interface Command {
  questions: Question[]
  isAll: boolean
  given: Record<string, number>
  isQuick: boolean
  isList: boolean
  isRedraw: boolean
  out: string | undefined
  against: string | undefined
}

export interface Call {
  level: 'debug' | 'info' | 'warn' | 'error'
  object: Record<string, unknown>
  message: string
  bindings?: Record<string, unknown>
}

interface Tools {
  chart: {
    barChart: (chart: BarChart) => Chart
    lineChart: (chart: LineChart) => Chart
    svgOf: (chart: Chart, footer: string) => Promise<string>
    written: (value: number) => string
  }
  'command-line': {
    parseCommand: (args: string[], questions: Question[], broken?: Map<string, unknown>) => Command
    optionsFor: (question: Question, command: Command) => Record<string, number>
    hasDefaults: (question: Question, options: Record<string, number>) => boolean
  }
  questions: {
    foldersOf: (root: URL) => string[]
    loadQuestions: (root: URL) => Promise<{ questions: Question[]; broken: Map<string, unknown> }>
  }
  shapes: {
    MARK: string
    SHAPES: Record<string, unknown>
    callsOf: (shape: string) => Call[]
    log: (logger: Logger, call: Call) => void
    sentOf: (calls: readonly Call[], count: number) => number
  }
  statistics: {
    spread: (values: number[]) => Spread
    Samples: new () => { add: (name: string, value: number) => void; spreads: () => Record<string, Spread> }
  }
  table: { table: (rows: string[][]) => string[] }
  turns: {
    inTurns: (turns: {
      rounds: number
      cases: string[]
      variants: string[]
      showProgress: (line: string) => void
      run: (name: string, variant: string) => Promise<Record<string, number>>
    }) => Promise<Record<string, Record<string, Record<string, Spread>>>>
  }
}

export const BENCHMARKS = new URL('../../benchmarks/', import.meta.url)

export async function tool<Name extends keyof Tools>(name: Name): Promise<Tools[Name]> {
  return (await import(new URL(`tools/${name}.mjs`, BENCHMARKS).href)) as Tools[Name]
}
