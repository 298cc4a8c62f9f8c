import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';

const PODS = '/api/v1/namespaces/default/pods';
const QUOTAS = '/api/v1/namespaces/default/resourcequotas';

describe('what only pods have', () => {
  let server: ApiServer;
  let client: KubeClient;

  beforeAll(async () => {
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    async function* podLogs({
      container,
      tailLines,
    }: {
      container: string;
      tailLines: number | undefined;
    }): AsyncGenerator<string> {
      await Promise.resolve();
      // JSON, because that is what the client reads.
      yield `"${container} `;
      yield `${tailLines ?? 'all'}"\n`;
    }
    server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log, podLogs });
    client = createClient(directConnection({ server: server.url, token: server.token, ca: server.caPem }), {
      userAgent: 'test',
    });
  });
  afterAll(async () => {
    client.close();
    await server.close();
  });

  function pod(name: string, memory: string, spec: object = {}): object {
    return {
      metadata: { name },
      spec: { containers: [{ name: 'main', image: 'i:1', resources: { requests: { memory } } }], ...spec },
    };
  }

  async function call(method: string, path: string, body?: unknown, contentType?: string): Promise<unknown> {
    const answer = await client.request({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
    } as Parameters<KubeClient['request']>[0]);
    return answer.kind === 'ok' ? answer.object : answer;
  }

  async function quota(name: string, hard: object): Promise<void> {
    await call('POST', QUOTAS, { metadata: { name }, spec: { hard } });
    await call(
      'PATCH',
      `${QUOTAS}/${name}/status`,
      { status: { hard, used: Object.fromEntries(Object.keys(hard).map((key) => [key, '0'])) } },
      'application/merge-patch+json',
    );
  }

  const used = async (name: string): Promise<unknown> =>
    ((await call('GET', `${QUOTAS}/${name}`)) as { status: { used: unknown } }).status.used;

  test('a quota is charged once however many clients race for it', async () => {
    await quota('race', { pods: '5' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => call('POST', PODS, pod(`race-${n}`, '1Mi'))),
    );
    expect(answers.filter((answer) => (answer as { kind: string }).kind === 'Pod')).toHaveLength(5);
    expect(await used('race')).toEqual({ pods: '5' });
    await call('DELETE', `${QUOTAS}/race`);
  });

  test('a dry run and a refused pod cost nothing', async () => {
    await quota('free', { pods: '5' });
    await client.request({ method: 'POST', path: PODS, query: { dryRun: 'All' }, body: pod('dry', '1Mi') });
    await call('POST', PODS, pod('race-0', '1Mi'));
    await call('POST', PODS, pod('Bad_Name', '1Mi'));
    expect(await used('free')).toEqual({ pods: '0' });
    await call('DELETE', `${QUOTAS}/free`);
  });

  test('a resize changes resources alone, and is charged', async () => {
    await quota('size', { 'requests.memory': '100Mi' });
    await call('POST', PODS, pod('grow', '10Mi'));
    const spec = { containers: [{ name: 'main', image: 'other:2', resources: { requests: { memory: '90Mi' } } }] };
    const resize = (body: object): Promise<unknown> =>
      call('PATCH', `${PODS}/grow/resize`, body, 'application/strategic-merge-patch+json');
    expect(await resize({ spec, metadata: { labels: { a: 'b' } } })).toMatchObject({
      spec: { containers: [{ image: 'i:1', resources: { requests: { memory: '90Mi' } } }] },
    });
    expect(await used('size')).toEqual({ 'requests.memory': '90Mi' });
    const more = { spec: { containers: [{ name: 'main', resources: { requests: { memory: '200Mi' } } }] } };
    expect(await resize(more)).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('exceeded quota: size') as string,
    });
    await call('DELETE', `${QUOTAS}/size`);
  });

  test('a second delete with less time shortens the end, one with more changes nothing', async () => {
    await call('POST', PODS, pod('slow', '1Mi', { nodeName: 'n', terminationGracePeriodSeconds: 60 }));
    const ending = (seconds: number): Promise<unknown> =>
      call('DELETE', `${PODS}/slow`, { gracePeriodSeconds: seconds });
    expect(await ending(40)).toMatchObject({ metadata: { deletionGracePeriodSeconds: 40 } });
    expect(await ending(50)).toMatchObject({ metadata: { deletionGracePeriodSeconds: 40 } });
    expect(await ending(-1)).toMatchObject({ metadata: { deletionGracePeriodSeconds: 1 } });
    await ending(0);
    expect(await call('GET', `${PODS}/slow`)).toMatchObject({ kind: 'notFound' });
  });

  test('a gate keeps a pod from being bound', async () => {
    await call('POST', PODS, pod('gated', '1Mi', { schedulingGates: [{ name: 'plimsoll.dev/wait' }] }));
    const binding = { metadata: { name: 'gated' }, target: { kind: 'Node', name: 'n' } };
    expect(await call('POST', `${PODS}/gated/binding`, binding)).toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('pod gated has non-empty .spec.schedulingGates') as string,
    });
  });

  test('logs come from the node, and only of containers that are there', async () => {
    await call('POST', PODS, pod('talks', '1Mi'));
    const read = async (query: Record<string, string>): Promise<unknown> => {
      const answer = await client.request({ method: 'GET', path: `${PODS}/talks/log`, query });
      return answer.kind === 'ok' ? answer.object : answer.message;
    };
    expect(await read({ tailLines: '3' })).toBe('main 3');
    expect(await read({ container: 'none' })).toBe('container none is not valid for pod talks');
    expect(await read({ tailLines: 'few' })).toContain('expected a whole number');
  });
});
