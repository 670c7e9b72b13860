/** Resource attributes from the variables of OpenTelemetry and Kubernetes: the fields they set and their precedence. */
import { describe, expect, test } from 'vitest'
import { findResourceProblem, readResource } from '../../src/options/resource.js'
import { resolve } from './resolve.js'

const ALL = 'service.name=shop,service.version=1.4.0,deployment.environment.name=staging,service.namespace=sales'

describe('OTEL_RESOURCE_ATTRIBUTES', () => {
  test('sets service, version and environment; other attributes become metadata', () => {
    const env = {
      OTEL_RESOURCE_ATTRIBUTES: ALL,
      NODE_ENV: 'production',
    }
    expect(resolve({ enabled: false }, env)).toMatchObject({
      service: 'shop',
      version: '1.4.0',
      environment: 'staging',
      metadata: { 'service.namespace': 'sales' },
    })
  })

  test('code, own variables and OTEL_SERVICE_NAME win', () => {
    const env = { OTEL_RESOURCE_ATTRIBUTES: ALL }
    expect(
      resolve({ version: 'code' }, { ...env, OTEL_SERVICE_NAME: 'otel', PINO_INGEST_ENVIRONMENT: 'own' }),
    ).toMatchObject({ service: 'otel', version: 'code', environment: 'own' })
    expect(resolve({ service: 'code', metadata: { 'service.namespace': 'code', a: 1 } }, env)).toMatchObject({
      service: 'code',
      metadata: { 'service.namespace': 'code', a: 1 },
    })
  })

  test.each<[string, Record<string, string>]>([
    ['', {}],
    [' , ', {}],
    ['a=1,', { a: '1' }],
    [' a = 1 , b=2', { a: '1', b: '2' }],
    ['a=x%2Cy%3Dz%20%C3%A4', { a: 'x,y=z ä' }],
    ['a%2Eb=1', { 'a.b': '1' }],
    ['a=', { a: '' }],
    ['a=1,a=2', { a: '2' }],
    ['service.name=', {}],
    ['__proto__=x', JSON.parse('{"__proto__":"x"}') as Record<string, string>],
  ])('%j', (text, metadata) => {
    const read = readResource({ OTEL_RESOURCE_ATTRIBUTES: text })
    expect(JSON.stringify(read.metadata)).toBe(JSON.stringify(metadata))
    expect(read.service).toBeUndefined()
    expect(findResourceProblem({ OTEL_RESOURCE_ATTRIBUTES: text })).toBeUndefined()
  })

  test.each(['service.name', 'a=1,service.name', '=x', 'a=b=c', 'a=%', 'a=%E4', 'a=1,%zz=2', 'service.name=shop,b'])(
    'ignores the malformed value %j completely',
    (text) => {
      const env = { OTEL_RESOURCE_ATTRIBUTES: text }
      expect(readResource(env)).toEqual({ metadata: {} })
      expect(findResourceProblem(env)).toMatch(/ is not (?:key=value|percent-encoded)/)
      expect(resolve({}, env)).toMatchObject({ metadata: {} })
    },
  )

  test('reads the former attribute name of the environment as a fallback', () => {
    const former = 'deployment.environment=old'
    expect(readResource({ OTEL_RESOURCE_ATTRIBUTES: former })).toEqual({ environment: 'old', metadata: {} })
    expect(readResource({ OTEL_RESOURCE_ATTRIBUTES: `${former},deployment.environment.name=new` })).toEqual({
      environment: 'new',
      metadata: {},
    })
  })
})

describe('Kubernetes', () => {
  const usual = { POD_NAME: 'p', POD_UID: 'u', POD_NAMESPACE: 'ns', NODE_NAME: 'n', CONTAINER_NAME: 'c' }
  const attributes = {
    'k8s.pod.name': 'p',
    'k8s.pod.uid': 'u',
    'k8s.namespace.name': 'ns',
    'k8s.node.name': 'n',
    'k8s.container.name': 'c',
  }

  test('reads unprefixed names only within Kubernetes, since Jenkins sets NODE_NAME', () => {
    expect(resolve({}, usual).metadata).toEqual({})
    expect(resolve({}, { ...usual, KUBERNETES_SERVICE_HOST: '10.0.0.1' }).metadata).toEqual(attributes)
  })

  test('prefixed names are always read, and win', () => {
    const own = {
      K8S_POD_NAME: 'p',
      K8S_POD_UID: 'u',
      K8S_NAMESPACE_NAME: 'ns',
      K8S_NODE_NAME: 'n',
      K8S_CONTAINER_NAME: 'c',
    }
    expect(resolve({}, own).metadata).toEqual(attributes)
    expect(
      resolve({}, { ...own, NODE_NAME: 'other', POD_NAME: 'other', KUBERNETES_SERVICE_HOST: '10.0.0.1' }).metadata,
    ).toEqual(attributes)
  })

  test('attributes of OpenTelemetry and the option metadata win', () => {
    const env = { K8S_POD_NAME: 'p', K8S_POD_UID: 'u', OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=otel' }
    expect(resolve({ metadata: { 'k8s.pod.uid': 'own' } }, env).metadata).toEqual({
      'k8s.pod.name': 'otel',
      'k8s.pod.uid': 'own',
    })
  })
})
