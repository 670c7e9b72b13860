/** Makes a screenshot small: a palette of 16 colors, two pixels a byte. A page of text and surfaces needs no more. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

const COLORS = 16
/** Squared, of two colors of the palette. */
const MIN_DISTANCE = 250

interface Pixels {
  readonly width: number
  readonly height: number
  /** 0xRRGGBB, row by row. */
  readonly colors: Uint32Array
}

/** @param png as Chromium writes it: 8 bits a channel, without transparency and interlacing */
export function toPalettePng(png: Buffer): Buffer {
  const { width, height, colors } = decode(png)
  const palette = choosePalette(colors)
  const indices = new Map<number, number>()
  const lineBytes = Math.ceil(width / 2) + 1
  const lines = Buffer.alloc(lineBytes * height)
  for (const [pixel, color] of colors.entries()) {
    const index = indices.get(color) ?? nearest(palette, color)
    indices.set(color, index)
    const x = pixel % width
    const at = Math.floor(pixel / width) * lineBytes + 1 + (x >> 1)
    lines[at] = (lines[at] as number) | (x % 2 === 0 ? index << 4 : index)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([4, 3, 0, 0, 0], 8)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function decode(png: Buffer): Pixels {
  const data: Buffer[] = []
  let header = png.subarray(0, 0)
  for (let at = SIGNATURE.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    const content = png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
    const type = png.toString('latin1', at + 4, at + 8)
    if (type === 'IHDR') header = content
    if (type === 'IDAT') data.push(content)
  }
  const [depth, colorType] = header.subarray(8)
  if (depth !== 8 || (colorType !== 2 && colorType !== 6)) throw new Error(`a PNG of color type ${colorType}`)
  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  const step = colorType === 2 ? 3 : 4
  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * step, step)
  return {
    width,
    height,
    colors: Uint32Array.from({ length: width * height }, (_, n) => bytes.readUIntBE(n * step, 3)),
  }
}

/** Undoes the filter of each line (PNG specification, 9.2). */
function unfilter(filtered: Buffer, lineBytes: number, step: number): Buffer {
  const height = filtered.length / (lineBytes + 1)
  const bytes = Buffer.alloc(lineBytes * height)
  for (let y = 0; y < height; y += 1) {
    const filter = filtered[y * (lineBytes + 1)]
    for (let x = 0; x < lineBytes; x += 1) {
      const at = y * lineBytes + x
      const left = x < step ? 0 : (bytes[at - step] as number)
      const up = y === 0 ? 0 : (bytes[at - lineBytes] as number)
      const corner = x < step || y === 0 ? 0 : (bytes[at - lineBytes - step] as number)
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter as number] as number
      bytes[at] = (filtered[at + y + 1] as number) + predicted
    }
  }
  return bytes
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner
  const error = (value: number): number => Math.abs(estimate - value)
  if (error(left) <= error(up) && error(left) <= error(corner)) return left
  return error(up) <= error(corner) ? up : corner
}

/** The most frequent colors that differ visibly from each other, so that a rare one keeps its hue. */
function choosePalette(colors: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
  const palette: number[] = []
  for (const [color] of [...counts].toSorted(([, one], [, other]) => other - one)) {
    if (palette.length === COLORS) break
    if (palette.every((chosen) => distance(chosen, color) > MIN_DISTANCE)) palette.push(color)
  }
  return palette
}

function nearest(palette: readonly number[], color: number): number {
  let best = 0
  for (const [index, candidate] of palette.entries())
    if (distance(candidate, color) < distance(palette[best] as number, color)) best = index
  return best
}

/** Squared. */
function distance(one: number, other: number): number {
  const channels = channelsOf(other)
  return channelsOf(one).reduce((sum, value, n) => sum + (value - (channels[n] as number)) ** 2, 0)
}

function channelsOf(color: number): number[] {
  return [color >> 16, (color >> 8) & 0xff, color & 0xff]
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(content.length, 0)
  whole.set(body, 4)
  whole.writeUInt32BE(crc32(body), body.length + 4)
  return whole
}
