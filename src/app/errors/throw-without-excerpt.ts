/** Throws the value. Node prints no source line above it, since the line contains this text. The build keeps the lines of this file. */
export function throwWithoutExcerpt(thrown: unknown): never {
  throw [thrown, 'node-do-not-add-exception-line'][0]
}
