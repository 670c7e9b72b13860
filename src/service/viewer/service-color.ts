/** Colors of services, stable by their names, and of other lines in a chart (pure). The style sheet chooses lightness and saturation for the theme. */
const HUES = [15, 60, 105, 150, 195, 245, 290, 335]

type HueStyle = { readonly '--hue': string }

/** Style of an element with the class `service`, by a number: neighbors differ most. */
export function hueStyle(index: number): HueStyle {
  return { '--hue': String(HUES[(index * 3 + 5) % HUES.length]) }
}

/** Style of an element with the class `service`. */
export function serviceStyle(name: string): HueStyle {
  // FNV-1a. The upper bits are mixed in, because the last letters of names are often alike.
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return { '--hue': String(HUES[((hash ^ (hash >>> 15)) >>> 0) % HUES.length]) }
}
