/**
 * A strict parser of Prometheus' text format 0.0.4. It follows the documentation of the format and shares no code
 * with the writer.
 */

export interface ParsedFamily {
  readonly type: string
  readonly help: string
  /** Keyed by the labels as JSON, with the names sorted. */
  readonly samples: ReadonlyMap<string, number>
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/s
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/

export function parsePrometheus(text: string): Map<string, ParsedFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line must end with a line feed')
  const families = new Map<string, { type: string; help: string; samples: Map<string, number> }>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const [, helped, help] = HELP.exec(line) ?? []
    const [, typed, type] = TYPE.exec(line) ?? []
    if (helped !== undefined && help !== undefined) {
      if (families.has(helped)) throw new Error(`a second HELP for ${helped}`)
      families.set((current = helped), { type: '', help: unescaped(help, { '\\': '\\', n: '\n' }), samples: new Map() })
    } else if (typed !== undefined && type !== undefined) {
      const family = families.get(typed)
      if (family === undefined || typed !== current || family.type !== '' || family.samples.size > 0)
        throw new Error(`TYPE at the wrong place: ${line}`)
      family.type = type
    } else {
      const { name, labels, value } = parseSample(line)
      const family = families.get(name)
      if (family === undefined || name !== current || family.type === '')
        throw new Error(`a sample outside its family: ${line}`)
      if (family.samples.has(labels)) throw new Error(`a sample twice: ${line}`)
      family.samples.set(labels, value)
    }
  }
  return families
}

function parseSample(line: string): { name: string; labels: string; value: number } {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0]
  if (name === undefined) throw new Error(`no name: ${line}`)
  let at = name.length
  const labels: [string, string][] = []
  if (line[at] === '{') {
    for (at += 1; line[at] !== '}'; at += line[at] === ',' ? 1 : 0) {
      const [head, label = '', raw = ''] = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/su.exec(line.slice(at)) ?? []
      if (head === undefined) throw new Error(`no label at ${at}: ${line}`)
      labels.push([label, unescaped(raw, { '\\': '\\', '"': '"', n: '\n' })])
      at += head.length
    }
    at += 1
  }
  const [, number] = /^ ([+-]Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(line.slice(at)) ?? []
  if (number === undefined) throw new Error(`no value: ${line}`)
  const names = labels.map(([label]) => label)
  if (new Set(names).size < names.length) throw new Error(`a label twice: ${line}`)
  return {
    name,
    labels: keyOf(Object.fromEntries(labels)),
    value: number.endsWith('Inf') ? Number(`${number}inity`) : Number(number),
  }
}

function unescaped(text: string, escapes: Readonly<Record<string, string>>): string {
  return text.replace(/\\(.?)/gs, (_all, letter: string) => {
    const character = escapes[letter]
    if (character === undefined) throw new Error(`no such escape: \\${letter}`)
    return character
  })
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** The value of a sample; throws if it is missing. */
export function sampleOf(
  families: ReadonlyMap<string, ParsedFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const value = families.get(name)?.samples.get(keyOf(labels))
  if (value === undefined) throw new Error(`no ${name} with ${keyOf(labels)}`)
  return value
}
