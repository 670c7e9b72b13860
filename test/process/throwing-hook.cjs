throw new TypeError('boom canary-key-71')
