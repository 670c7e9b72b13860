/** Serves the files of the page from the bundle that the build creates. */
import { brotliDecompressSync } from 'node:zlib'
import { PAGE_HEADERS } from '../service-reply.js'
import type { Reply } from '../service-reply.js'
import { BUNDLE } from './page-bundle.js'

const FILES = {
  '/': { name: 'html', type: 'text/html; charset=utf-8' },
  '/page/main.js': { name: 'script', type: 'text/javascript; charset=utf-8' },
  '/page/style.css': { name: 'style', type: 'text/css; charset=utf-8' },
} as const

const inflated = new Map<string, Buffer>()

/** @param known the request's `If-None-Match` @returns undefined if the page has no such file */
export function findPageFile(path: string, known: string | undefined): Reply | undefined {
  if (!Object.hasOwn(FILES, path)) return undefined
  const { name, type } = FILES[path as keyof typeof FILES]
  const etag = `"${BUNDLE.version}"`
  const headers = { ...PAGE_HEADERS, 'content-type': type, etag }
  if (known?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag) === true)
    return { status: 304, body: '', headers }
  return { status: 200, body: inflate(name), headers }
}

function inflate(name: 'html' | 'script' | 'style'): Buffer {
  const bytes = inflated.get(name) ?? brotliDecompressSync(Buffer.from(BUNDLE[name], 'base64'))
  inflated.set(name, bytes)
  return bytes
}
