/** Charts as SVG text, without a dependency: readable by day and by night, in a page and in a reader for the blind. */
export { barChart } from './chart-bars.mjs'
export { withFooter } from './chart-frame.mjs'
export { lineChart } from './chart-lines.mjs'
