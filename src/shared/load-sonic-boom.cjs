/**
 * Loads SonicBoom on demand, because loading takes 1 ms in a worker and 10 ms in a new process, and most workers append to no file.
 *
 * CommonJS, because `import()` is asynchronous. Bundlers follow this `require`.
 *
 * @returns {typeof import('sonic-boom').SonicBoom}
 */
module.exports = function loadSonicBoom() {
  return require('sonic-boom').SonicBoom
}
