/** Colors for output that goes to a terminal. */
import { styleText } from 'node:util'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'magenta' | 'cyan'

export type Paint = (style: Style, text: string) => string

export const PLAIN: Paint = (_, text) => text

/** Colors if the stream supports them. Node respects NO_COLOR and FORCE_COLOR. */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream })
}
