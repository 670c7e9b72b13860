/** Charts as SVG text without dependencies, for light and dark mode, and with text for screen readers. */
export { barChart } from './chart-bars.mjs'
export { withFooter } from './chart-frame.mjs'
export { lineChart } from './chart-lines.mjs'
