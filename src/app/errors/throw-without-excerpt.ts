/**
 * Throws the value. Node prints no source line above it, because the line contains the text
 * `node-do-not-add-exception-line`. The build does not minify this file.
 */
export function throwWithoutExcerpt(thrown: unknown): never {
  throw [thrown, 'node-do-not-add-exception-line'][0]
}
