/** The size of an installation: bytes and files, packages, install scripts. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Size
 * @property {number} bytes total length of all files; a file system uses whole blocks for each
 * @property {number} files
 * @property {number} packages
 * @property {string[]} installScripts packages that have one
 * @property {{ name: string, bytes: number }[]} largest packages, without nested packages
 */

const SHOWN = 4
/** npm's own files, and links. */
const NOT_INSTALLED = ['.package-lock.json', '.bin']

/** @param {string} folder that has node_modules @returns {Size} */
export function sizeOf(folder) {
  const modules = join(folder, 'node_modules')
  /** @type {Record<string, { hasInstallScript?: boolean }>} the packages that npm has installed */
  const packages = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages
  const all = readdirSync(modules)
    .filter((name) => !NOT_INSTALLED.includes(name))
    .map((name) => counted(join(modules, name)))
  const places = Object.keys(packages)
  const nameOf = (/** @type {string} */ place) =>
    place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return {
    bytes: sum(all.map(({ bytes }) => bytes)),
    files: sum(all.map(({ files }) => files)),
    packages: places.length,
    installScripts: places.filter((place) => packages[place]?.hasInstallScript === true).map(nameOf),
    largest: places
      .map((place) => ({ name: nameOf(place), bytes: counted(join(folder, place), 'node_modules').bytes }))
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, SHOWN),
  }
}

/** @param {string} path @param {string} [without] a folder @returns {{ bytes: number, files: number }} */
function counted(path, without) {
  const files = readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => without === undefined || !file.slice(path.length).includes(`/${without}/`))
  return { bytes: sum(files.map((file) => statSync(file).size)), files: files.length }
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0)
}
