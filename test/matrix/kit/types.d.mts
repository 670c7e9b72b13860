import type { IngestService } from 'pino-ingest/service'

/** What a group gets to make its applications with. */
export interface Kit {
  /** The packed package. */
  readonly tarball: string
  readonly scratch: string
  /** Makes a folder in the scratch folder, with a `package.json`. */
  folder(name: string, packageJson?: object): string
  /** `npm install` there, without install scripts. @param specifiers `kit.tarball` among them */
  install(folder: string, specifiers: readonly string[]): void
  /** Path of a runtime's program, installed at its first use. @param version such as `24`, `latest` */
  node(version: string): string
  bun(version: string): string
  deno(version: string): string
  /** Version of what is installed in a folder. */
  versionIn(folder: string, name: string): string
  /** Copies from `test/matrix/apps`. */
  copyApp(name: string, folder: string): void
  /** Runs to its end, and throws with its output where it fails: for compilers, bundlers, package managers. */
  exec(command: readonly string[], options: { readonly cwd: string; readonly env?: Environment }): string
  /** Runs to its end, at most 60 s. */
  run(command: readonly string[], options: { readonly cwd: string; readonly env?: Environment }): Promise<Run>
}

export type Environment = Readonly<Record<string, string>>

export interface Run {
  /** `undefined` where a signal ended it. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** One application in one way of running. */
export interface Cell {
  /** Such as `Node 24.21.0 · pino 10.4.0`, `esbuild 0.28.2, one file`. */
  readonly row: string
  /**
   * `target`, `targets`, `pipeline`, `in-process`, `pipe` in table `runtimes`; `worker thread`, `in-process` in table `tools`;
   * `transport`, `ingestOptions()`, `pipe` in table `applications`.
   */
  readonly column: string
  /** Where a table's cell sums up several: `ESM`, `CJS`, `TypeScript`. */
  readonly kind?: string
  readonly table: 'runtimes' | 'tools' | 'applications'
  /** For the table's last column: what it takes, or what to do instead. Markdown, short. */
  readonly takes?: string
  readonly command?: readonly string[]
  readonly cwd?: string
  readonly env?: Environment
  /** Instead of `command`: what is to be driven, such as a server. The environment holds the address and the key. */
  readonly drive?: (env: Environment, service: IngestService) => Promise<Run>
  /** Instead of counting 1,000 records: what is wrong with what arrived, by aspect. */
  readonly compare?: (service: IngestService) => Readonly<Record<string, readonly string[]>>
  /** What cannot work: it must end with another code than 0 and print this. */
  readonly refuses?: RegExp
  /** What may stand on stderr, where something else prints there. */
  readonly allowedStderr?: RegExp
}

export interface Group {
  cells(kit: Kit): AsyncGenerator<Cell> | Generator<Cell>
}

export interface Result {
  readonly group: string
  readonly table: 'runtimes' | 'tools' | 'applications'
  readonly row: string
  readonly column: string
  readonly kind?: string
  readonly takes?: string
  readonly outcome: 'works' | 'refused' | 'failed'
  readonly arrived: number
  /** In table `applications`: the aspects that differ. */
  readonly wrong?: readonly string[]
  readonly detail?: string
}
