/** The package's version; a test compares it with package.json, which the CommonJS build could not import. */
export const VERSION = '0.1.0'
