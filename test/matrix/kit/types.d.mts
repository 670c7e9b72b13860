import type { IngestService } from 'pino-ingest/service'

/** The tools for a group to create its applications. */
export interface Kit {
  /** The packed package. */
  readonly tarball: string
  readonly scratch: string
  /** Creates a folder with a `package.json` in the scratch folder. */
  folder(name: string, packageJson?: object): string
  /** `npm install` in `folder`, without install scripts. @param specifiers including `kit.tarball` */
  install(folder: string, specifiers: readonly string[]): void
  /** Path of a runtime's executable, installed at first use. @param version such as `24`, `latest` */
  node(version: string): string
  bun(version: string): string
  deno(version: string): string
  /** The installed version of a package. */
  versionIn(folder: string, name: string): string
  /** Copies an application from `test/matrix/apps`. */
  copyApp(name: string, folder: string): void
  /** Runs a compiler, bundler or package manager to its end. Throws with its output if it fails. */
  exec(command: readonly string[], options: { readonly cwd: string; readonly env?: Environment }): string
  /** Runs a program to its end, at most 60 s. */
  run(command: readonly string[], options: { readonly cwd: string; readonly env?: Environment }): Promise<Run>
}

export type Environment = Readonly<Record<string, string>>

export interface Run {
  /** `undefined` if a signal ended it. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** One application in one mode. */
export interface Cell {
  /** Such as `Node 24.21.0 · pino 10.4.0`, `esbuild 0.28.2, one file`. */
  readonly row: string
  /**
   * `target`, `targets`, `pipeline`, `in-process`, `pipe` in table `runtimes`; `worker thread`, `in-process` in table `tools`;
   * `transport`, `ingestOptions()`, `pipe` in table `applications`.
   */
  readonly column: string
  /** If a table's cell summarizes several: `ESM`, `CJS`. */
  readonly kind?: string
  readonly table: 'runtimes' | 'tools' | 'applications'
  /** For the table's last column: the required setting, or an alternative. Short Markdown. */
  readonly takes?: string
  readonly command?: readonly string[]
  readonly cwd?: string
  readonly env?: Environment
  /** Instead of `command`: drives a program such as a server. The environment has the address and the key. */
  readonly drive?: (env: Environment, service: IngestService) => Promise<Run>
  /** Instead of counting 1,000 records: returns the differences by aspect. */
  readonly compare?: (service: IngestService) => Readonly<Record<string, readonly string[]>>
  /** For unsupported cases: the program must exit with a code other than 0 and print this. */
  readonly refuses?: RegExp
  /** Expected output of other programs on stderr. */
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
  /** In the table `applications`: the aspects with differences. */
  readonly wrong?: readonly string[]
  readonly detail?: string
}
