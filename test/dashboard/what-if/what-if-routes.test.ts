import { afterEach, describe, expect, test } from 'vitest';
import { type Admit, admitAll } from '#dashboard/access/admit.ts';
import type { PodAnswerView, PressureAnswerView } from '#dashboard/what-if/answer.ts';
import { generateCluster } from '#test/dashboard/generated-cluster.ts';
import { answerAt, refusalAt, servedDashboard, tenant } from '#test/dashboard/served-dashboard.ts';

const nobody: Admit = () => Promise.resolve({ kind: 'refused', status: 401, message: 'send a token' });
/** Questions at once, of all users together. */
const MAX_AT_ONCE = 4;

describe('/api/what-if', () => {
  const { sources } = generateCluster(10, Date.now());
  const dashboard = servedDashboard(sources);
  const start = async (...how: Parameters<typeof dashboard.start>) => `${await dashboard.start(...how)}/api/what-if`;

  afterEach(dashboard.stop);

  test('a higher threshold changes who goes, and the policy of the node stays as it is', async () => {
    const url = await start();
    const ask = (more: string) => answerAt<PressureAnswerView>(`${url}/pressure?node=node-000&available=900Mi${more}`);
    expect(await ask('')).toMatchObject({ stage: 'none', victims: [] });
    expect(await ask('&threshold=1Gi')).toMatchObject({ stage: 'severe', victims: ['team-0/worker-0-0'] });
    const soft = await ask('&kind=soft&threshold=1Gi');
    expect(soft).toMatchObject({ stage: 'mild', victims: ['team-0/worker-0-0'] });
    expect(soft.thresholds.map(({ kind, least }) => [kind, least])).toEqual([
      ['hard', '250Mi'],
      ['soft', '1Gi'],
    ]);
    expect(await ask('')).toMatchObject({ stage: 'none' });
  });

  test('without an amount it takes what the agent reported last', async () => {
    const url = await start();
    expect(await answerAt(`${url}/pressure?node=node-009`)).toMatchObject({ stage: 'severe' });
    expect(await refusalAt(`${url}/pressure?node=node-009&signal=allocatableMemory.available`)).toEqual([
      400,
      expect.stringMatching(/^available: the agent of node "node-009" has not reported allocatableMemory/),
    ]);
  });

  test('one more pod makes lower ones go, or none where its class preempts none', async () => {
    const url = await start();
    const ask = (more: string) => answerAt<PodAnswerView>(`${url}/pod?node=node-000&cpu=600m${more}`);
    const critical = await ask('&priorityClass=critical');
    expect([critical.outcome, critical.victims.map(({ pod }) => pod)]).toEqual([
      'preempts',
      ['team-1/worker-0-1', 'team-0/worker-0-0'],
    ]);
    expect(await ask('&priorityClass=long-jobs')).toMatchObject({ outcome: 'notPlaceable', victims: [] });
    expect(await answerAt(`${url}/pod?node=node-000&cpu=100m`)).toMatchObject({
      outcome: 'fits',
      className: 'standard',
    });
  });

  test('a tenant gets no name, figure or reason of pods of others, and as many entries as there are', async () => {
    const url = await start(tenant);
    const pressure = await answerAt<PressureAnswerView>(`${url}/pressure?node=node-000&available=100Mi`);
    const pod = await answerAt<PodAnswerView>(`${url}/pod?node=node-000&cpu=600m&priorityClass=critical`);
    expect(JSON.stringify([pressure, pod])).not.toMatch(/team-0|team-2|kube-system/);
    expect([pressure.order.length, pressure.kept.length, pod.victims.length]).toEqual([10, 1, 2]);
    expect(pressure.order.map((each) => each.pod).filter(Boolean)).toEqual([
      'team-1/worker-0-1',
      'team-1/worker-0-4',
      'team-1/worker-0-7',
    ]);
    expect(pressure.order[0]).toEqual({ position: 1, pod: '', why: '', usage: '', request: '' });
    expect(pod.victims).toEqual([
      { pod: 'team-1/worker-0-1', priority: 100, className: '' },
      { pod: '', className: '' },
    ]);
  });

  test('what cannot be used is refused with its field, without reading the cluster', async () => {
    const url = await start(admitAll, { readNode: () => Promise.reject(new Error('read')) });
    expect(await refusalAt(`${url}/pressure?node=n&threshold=high`)).toEqual([
      400,
      expect.stringMatching(/^threshold: /),
    ]);
    expect(await refusalAt(`${url}/pressure?node=a&node=b`)).toEqual([400, 'node: expected one value']);
    expect(await refusalAt(`${url}/pod?node=n&cpu=fast`)).toEqual([400, expect.stringMatching(/^cpu: .*got "fast"/)]);
  });

  test('without credentials nothing is decided, and no other method is answered', async () => {
    const url = await start(nobody, { readNode: () => Promise.reject(new Error('read')) });
    expect(await refusalAt(`${url}/pressure?node=node-000`)).toEqual([401, 'send a token']);
    expect(await refusalAt(`${url}/pod?node=node-000`)).toEqual([401, 'send a token']);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await fetch(`${url}/pod?node=node-000`, { method })).status).toBe(404);
  });

  test('an unknown node is 404, and what cannot be read is 503 with the reason', async () => {
    const message = 'cannot list pods: forbidden';
    const url = await start(admitAll, {
      readNode: (name) => Promise.resolve(name === 'gone' ? { kind: 'notFound' } : { kind: 'unavailable', message }),
    });
    expect(await refusalAt(`${url}/pod?node=gone`)).toEqual([404, 'node: "gone" not found']);
    expect(await refusalAt(`${url}/pod?node=n`)).toEqual([503, `cannot simulate: ${message}`]);
  });

  test('a few questions are read for at once, a further one is 503, and later ones are answered again', async () => {
    const held = Promise.withResolvers<undefined>();
    const url = await start(admitAll, {
      readNode: async (name, signal) => {
        await held.promise;
        return sources.readNode(name, signal);
      },
    });
    const asked = Array.from({ length: MAX_AT_ONCE + 1 }, () => fetch(`${url}/pod?node=node-000`));
    expect((await Promise.race(asked)).status).toBe(503);
    held.resolve(undefined);
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([...Array<number>(MAX_AT_ONCE).fill(200), 503]);
    expect((await fetch(`${url}/pod?node=node-000`)).status).toBe(200);
  });
});
