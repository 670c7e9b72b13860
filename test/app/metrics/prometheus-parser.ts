/** Reads the samples of Prometheus' text format 0.0.4. Shares no code with the writer. */

/** Values by name and labels. */
export function parsePrometheus(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, label, raw]) => [
        label,
        unescape(raw),
      ])
      return [keyOf(name, Object.fromEntries(pairs) as Record<string, string>), Number(value)]
    }),
  )
}

/** Backslash, double quote and line feed are escaped as in JSON. */
function unescape(raw: string | undefined): unknown {
  return JSON.parse(`"${raw}"`)
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  return `${name} with ${JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)))}`
}

/** The value of a sample; throws if it is missing. */
export function sampleOf(
  samples: ReadonlyMap<string, number>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const value = samples.get(keyOf(name, labels))
  if (value === undefined) throw new Error(`no ${keyOf(name, labels)}`)
  return value
}
