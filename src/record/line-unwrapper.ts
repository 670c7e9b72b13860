/**
 * Finds the records in what is piped: in lines that a container runtime or an init system wrapped, in lines with several
 * records or with text around one, and after bytes that belong to no record. A line of pino is passed on as it is.
 */
import { divideLine, skipBlanks } from './divide-line.js'
import type { LineJoiner } from './line-joiner.js'
import { MAX_LINE_CHARS } from './line-reader.js'
import type { OnLine } from './line-reader.js'
import type { Mapper } from './mapper.js'
import { unwrapLine } from './unwrap-line.js'

/** Start of an object that is no wrapper: keys of wrappers begin with `id`, `log`, `message`, `_` or a capital letter, see `unwrapLine`. */
const RECORD_START = /^\{"(?!id|lo|me|[A-Z_])/
/** UTF-16, decoded as UTF-8. */
const UTF_16 = /^\ufffd{0,2}\0?(?:[^\0]\0){3}/

/** Maximum number of nested wrappers. `kubectl logs --prefix --timestamps` writes two. */
const MAX_WRAPPERS = 4
/** After this number of lines, the rest of a part is no longer expected: the process that wrote it may have died. */
const MAX_PART_LINES = 1_000

export class LineUnwrapper {
  readonly #mapper: Pick<Mapper, 'lines' | 'isRecord' | 'startsWithLevel'>
  readonly #joiner: LineJoiner
  readonly #onUnsupportedInput: (form: string, command: string) => void
  #isReported = false
  /** The parts of unfinished lines, by stream. */
  readonly #parts = new Map<string, string>()
  /** The beginning of a record whose rest may be the next line; '' if there is none. */
  #beginning = ''
  /** Number of lines that were read since the first part of these texts, with that one. */
  unfinishedLines = 0
  /** Whether the latest line is wrapped text, which the next line may continue. */
  isWrappedText = false

  /**
   * @param joiner receives records and texts. A record that is not complete JSON must be passed to `divide`, unless it is a part
   * @param onUnsupportedInput called once if the input has an unsupported form, with the form and a command that avoids it
   */
  constructor(
    mapper: Pick<Mapper, 'lines' | 'isRecord' | 'startsWithLevel'>,
    joiner: LineJoiner,
    onUnsupportedInput: (form: string, command: string) => void,
  ) {
    this.#mapper = mapper
    this.#joiner = joiner
    this.#onUnsupportedInput = onUnsupportedInput
  }

  get isWaiting(): boolean {
    return this.#parts.size > 0 || this.#beginning !== '' || this.#joiner.block !== ''
  }

  readonly add: OnLine = (line) => {
    this.isWrappedText = false
    if (line.cutFrom > 0) this.flush()
    const earlier = this.#parts.size > 0 ? undefined : this.#beginning
    const start = line.readStart(4)
    // Fast path for lines of pino, which begin with the level.
    const isRecord = start === '{"le' || RECORD_START.test(start) || line.cutFrom > 0
    if (isRecord && this.#beginning === '') this.#joiner.addRecord(line)
    else this.#addText(line.text)
    const isFirst = earlier === '' || (earlier !== undefined && earlier !== this.#beginning)
    this.unfinishedLines = isFirst ? 1 : this.unfinishedLines + 1
    if (this.unfinishedLines > MAX_PART_LINES) this.end()
    else if (this.#parts.size === 0 && this.#beginning === '') this.unfinishedLines = 0
  }

  /** Divides a line into records and texts, and passes them on. The beginning of a record at the end waits for the next line. */
  divide(text: string, cutFrom = 0): void {
    const parts = divideLine(text, this.#mapper)
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1
      const cut = isLast ? cutFrom : 0
      if (cut === 0 && !part.startsWith('{"')) this.#joiner.addText(part)
      else if (isLast && cut === 0 && !this.#mapper.isRecord(part)) this.#beginning = part
      else this.#joiner.addRecord(this.#mapper.lines.place(part).setPart(cut))
    }
  }

  /** Emits the text, or the beginning of a record, that waits for the next line. */
  flush(): void {
    this.isWrappedText = false
    this.#addUnwrapped('')
    if (this.#parts.size === 0) this.unfinishedLines = 0
    this.#joiner.flush()
  }

  end(): void {
    const texts = [...this.#parts.values()]
    this.#parts.clear()
    for (const text of texts) this.#addText(text)
    this.flush()
  }

  #addText(line: string, wrappers = 0): void {
    const unwrapped = wrappers < MAX_WRAPPERS ? unwrapLine(line, this.#mapper) : undefined
    if (unwrapped === null) this.#report('JSON of the systemd journal without the message', 'journalctl -o cat')
    if (unwrapped === undefined || unwrapped === null) return this.#addUnwrapped(line)
    const { text, stream = '', continuedIn } = unwrapped
    const whole = (this.#parts.get(stream) ?? '') + text
    if (continuedIn !== undefined && whole.length < MAX_LINE_CHARS) return void this.#parts.set(stream, whole)
    this.#parts.delete(stream)
    for (const inner of whole.split('\n')) if (inner !== '') this.#addText(inner, wrappers + 1)
    this.isWrappedText = this.#joiner.block !== ''
  }

  /** Emits the beginning of a record, with this line if both together are a record; else reads the line. */
  #addUnwrapped(line: string): void {
    const beginning = this.#beginning
    this.#beginning = ''
    const isRest = beginning !== '' && this.#mapper.isRecord(beginning + line)
    const record = isRest ? beginning + line : beginning
    if (record !== '') this.#joiner.addRecord(this.#mapper.lines.place(record).setPart(0))
    if (isRest || line === '') return
    if (UTF_16.test(line)) this.#report('UTF-16', 'iconv -f UTF-16 -t UTF-8')
    const start = skipBlanks(line)
    const isIndented = /^[\t ]+$/.test(line.slice(0, start))
    if (!line.startsWith('{"', start) || isIndented) return this.divide(line.replace(/^[\0\r\ufeff]+/, ''))
    this.#joiner.addRecord(this.#mapper.lines.place(line.slice(start)))
  }

  #report(form: string, command: string): void {
    if (!this.#isReported) this.#onUnsupportedInput(form, command)
    this.#isReported = true
  }
}
