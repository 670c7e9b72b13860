import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { closedPort, listenHttp } from './servers.mjs'
export { close } from './servers.mjs'

const port = await listenHttp((request, response) => {
  request.resume().on('end', () => {
    if (request.headers['x-amz-target'] !== undefined) {
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'R-1' })
      return response.end(
        JSON.stringify({
          __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
          message: 'The conditional request failed',
          Item: { email: { S: 'jane@example.com' } },
        }),
      )
    }
    if (request.url.startsWith('/shop/slow')) return undefined
    if (request.url.startsWith('/shop/html')) {
      response.writeHead(502, { 'content-type': 'text/html' })
      return response.end('<html>secret-reply</html>')
    }
    const [status, code, text] = request.url.startsWith('/shop/forbidden')
      ? [403, 'AccessDenied', 'Access Denied']
      : [404, 'NoSuchKey', 'The specified key does not exist.']
    response.writeHead(status, { 'content-type': 'application/xml', 'x-amz-request-id': 'R-2', 'x-amz-id-2': 'H-2' })
    return response.end(
      `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${text}</Message><Key>orders/7</Key><RequestId>R-2</RequestId></Error>`,
    )
  })
})
const closed = await closedPort()
const options = (at, more) => ({
  region: 'eu-central-1',
  endpoint: `http://127.0.0.1:${at}`,
  credentials: { accessKeyId: 'secret-id', secretAccessKey: 'secret-password', sessionToken: 'secret-token' },
  maxAttempts: 1,
  forcePathStyle: true,
  ...more,
})
const s3 = new S3Client(options(port))
const get = (Key) => s3.send(new GetObjectCommand({ Bucket: 'shop', Key }))

export const cases = {
  'S3: no such key': () => get('orders/7'),
  'S3: forbidden': () => s3.send(new PutObjectCommand({ Bucket: 'shop', Key: 'forbidden', Body: 'secret-body' })),
  'S3: not its reply': () => get('html'),
  'S3: refused': () => new S3Client(options(closed)).send(new GetObjectCommand({ Bucket: 'shop', Key: 'k' })),
  'S3: timeout': () =>
    new S3Client(options(port, { requestHandler: { requestTimeout: 50, throwOnRequestTimeout: true } })).send(
      new GetObjectCommand({ Bucket: 'shop', Key: 'slow' }),
    ),
  'S3: aborted': () => s3.send(new GetObjectCommand({ Bucket: 'shop', Key: 'slow' }), { abortSignal: AbortSignal.timeout(20) }),
  'DynamoDB: condition': () =>
    new DynamoDBClient(options(port)).send(
      new PutItemCommand({ TableName: 'users', Item: { email: { S: 'secret-value' } }, ConditionExpression: 'attribute_not_exists(email)' }),
    ),
}
