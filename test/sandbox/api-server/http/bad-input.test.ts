import { request as send } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const NAMED = { metadata: { name: 'x' } };

interface Answer {
  readonly code: number;
  readonly text: string;
}

describe('bad input', () => {
  let server: ApiServer;

  beforeAll(async () => {
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log });
  });
  afterAll(() => server.close());

  function call(
    method: string,
    path: string,
    body: string | Buffer = '',
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const { port, token, caPem } = server;
    return new Promise((resolve, reject) => {
      const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
      const request = send({ host: '127.0.0.1', port, method, path, ca: caPem, headers: all }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** A refusal is a Status with its own code, and shows nothing of the inside. */
  function expectStatus({ code, text }: Answer, expected: number): void {
    expect(code).toBe(expected);
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: expected });
    expect(text).not.toMatch(/\.ts:|node_modules|at Object\./);
  }

  test.each<[string, string | Buffer]>([
    ['an empty body', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"x"'],
    ['a cut-off object', '{"kind":'],
    ['two documents', '{}{}'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['201 levels', '['.repeat(201) + ']'.repeat(201)],
    ['a million levels', '['.repeat(1_000_000)],
    ['metadata that is a list', '{"metadata":[]}'],
    ['data that is a number', '{"metadata":{"name":"x"},"data":1}'],
    ['a name that is a number', '{"metadata":{"name":7}}'],
    ['another kind', '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}'],
    ['another version', '{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"x"}}'],
  ])('%s is a 400', async (_, body) => {
    expectStatus(await call('POST', MAPS, body), 400);
  });

  test.each<[string, string]>([
    ['tabs', 'a:\n\t- b'],
    ['doubled keys', 'metadata: {name: x}\nmetadata: {name: y}'],
    [
      'aliases that explode',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]`,
    ],
  ])('YAML with %s is a 400', async (_, body) => {
    expectStatus(await call('POST', MAPS, body, { 'content-type': 'application/yaml' }), 400);
  });

  test('YAML is as good as JSON', async () => {
    const { code } = await call('POST', `${MAPS}?dryRun=All`, 'metadata: {name: yaml}\ndata: {a: b}', {
      'content-type': 'application/yaml',
    });
    expect(code).toBe(201);
  });

  test.each([
    ['an octal key', 'metadata: {name: yaml}\ndata: {010: b}', { code: 201, data: { 8: 'b' } }],
    ['a boolean without quotes', 'metadata: {name: yaml}\nimmutable: yes', { code: 201, immutable: true }],
  ])('YAML is read as by the API server: %s', async (_, body, { code, ...fields }) => {
    const answer = await call('POST', `${MAPS}?dryRun=All`, body, { 'content-type': 'application/yaml' });
    expect([answer.code, JSON.parse(answer.text)]).toMatchObject([code, fields]);
  });

  test('nine megabytes are refused while they come, and the server goes on', async () => {
    const body = Buffer.alloc(9 * 1024 * 1024, 'x');
    const answer = await call('POST', MAPS, body).catch((error: unknown) => (error as NodeJS.ErrnoException).code);
    if (typeof answer === 'object') expectStatus(answer, 413);
    else expect(answer).toMatch(/EPIPE|ECONNRESET/);
    expect((await call('GET', MAPS)).code).toBe(200);
  });

  test.each<[string, string, string, Record<string, string>, number]>([
    ['no token', 'GET', MAPS, { authorization: '' }, 401],
    ['a wrong token', 'GET', MAPS, { authorization: 'Bearer nope' }, 401],
    ['another scheme', 'GET', MAPS, { authorization: 'Basic eDp5' }, 401],
    ['plain text', 'POST', MAPS, { 'content-type': 'text/plain' }, 415],
    ['a form', 'POST', MAPS, { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['an unknown patch', 'PATCH', `${MAPS}/x`, { 'content-type': 'application/json' }, 415],
    ['a media type that is not supported', 'GET', MAPS, { accept: 'text/csv' }, 406],
    ['a write without namespace', 'POST', '/api/v1/configmaps', {}, 405],
    ['an unknown resource', 'GET', '/api/v1/things', {}, 404],
    ['an unknown subresource', 'GET', `${PODS}/x/future`, {}, 404],
    ['an empty name', 'GET', `${MAPS}//`, {}, 404],
    ['a negative limit', 'GET', `${MAPS}?limit=-1`, {}, 400],
    ['a limit that is none', 'GET', `${MAPS}?limit=many`, {}, 400],
    ['a token that is not ours', 'GET', `${MAPS}?limit=1&continue=xyz`, {}, 400],
    ['a selector that is none', 'GET', `${MAPS}?labelSelector=a%20in%20(`, {}, 400],
    ['a dry run of some', 'DELETE', `${MAPS}/kube-root?dryRun=Some`, {}, 422],
    ['an unknown propagation', 'DELETE', `${MAPS}/x?propagationPolicy=Later`, {}, 422],
    ['an unknown validation', 'POST', `${MAPS}?fieldValidation=Maybe`, {}, 422],
  ])('%s: a Status', async (_, method, path, headers, code) => {
    expectStatus(
      await call(method, path, method === 'GET' ? '' : method === 'DELETE' ? '' : JSON.stringify(NAMED), headers),
      code,
    );
  });

  test.each(['/', '/nope', '/apis/nope.dev/v1/x', '/%zz', '/api/v1/%zz'])('the path %s is not found', async (path) => {
    expect([400, 404]).toContain((await call('GET', path)).code);
  });

  test('keys that poison prototypes are data', async () => {
    const body = '{"metadata":{"name":"proto"},"data":{"__proto__":"a","constructor":"b"}}';
    expect((await call('POST', MAPS, body)).code).toBe(201);
    const { text } = await call('PATCH', `${MAPS}/proto`, '{"data":{"more":"c"}}', {
      'content-type': 'application/merge-patch+json',
    });
    expect(text).toContain('"data":{"__proto__":"a","constructor":"b","more":"c"}');
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  test.each([
    ['1e400', 'json: cannot unmarshal number'],
    ['1.5', 'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32'],
    ['"5"', 'json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32'],
    ['2147483648', 'of type int32'],
  ])('a priority of %s is no 32-bit number', async (priority, message) => {
    const body = `{"metadata":{"name":"p"},"spec":{"priority":${priority},"containers":[{"name":"c","image":"i"}]}}`;
    const answer = await call('POST', PODS, body);
    expectStatus(answer, 400);
    expect(JSON.parse(answer.text)).toMatchObject({ message: expect.stringContaining(message) as string });
  });

  test('a patch that cannot be carried out changes nothing', async () => {
    await call('POST', MAPS, '{"metadata":{"name":"kept"},"data":{"a":"1"}}');
    const patch = (body: string): Promise<Answer> =>
      call('PATCH', `${MAPS}/kept`, body, { 'content-type': 'application/json-patch+json' });
    expectStatus(await patch('[{"op":"remove","path":"/data/none"}]'), 422);
    expectStatus(await patch('[{"op":"fly","path":"/data"}]'), 422);
    expectStatus(await patch('{"op":"remove"}'), 400);
    expectStatus(
      await patch(JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' })))),
      413,
    );
    expect((await call('GET', `${MAPS}/kept`)).text).toContain('"data":{"a":"1"}');
  });
});
