/**
 * Loads re2js on demand, because loading takes 10 ms and few programs need it. CommonJS, because callers cannot wait for
 * an `import()` and bundlers follow this `require`. The build replaces the package by `dist/cjs/re2js.js`.
 *
 * @returns {typeof import('re2js').RE2JS}
 */
module.exports = function loadRe2() {
  return require('re2js').RE2JS
}
