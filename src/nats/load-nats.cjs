/** Made once: each batch asks for it. */
let loaded

/**
 * Loads the NATS client, which only applications with the option `nats` install. Loading takes 50 ms.
 *
 * CommonJS in both builds: `ingestStream()` is synchronous and cannot wait for an `import()`, and bundlers follow this `require`. Inside
 * a `try`, bundlers accept that the packages are not installed.
 *
 * @returns {typeof import('@nats-io/transport-node') & typeof import('@nats-io/jetstream')}
 * @throws if a package is not installed
 */
module.exports = function loadNats() {
  try {
    return (loaded ??= { ...require('@nats-io/transport-node'), ...require('@nats-io/jetstream') })
  } catch (error) {
    throw new Error(`the NATS client cannot be loaded: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
