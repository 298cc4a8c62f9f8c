import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { type Answer, at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn, PRIORITY_QUOTAS } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually } from '#test/build/waiting.ts';

/** Long before a reservation expires by itself. */
const SEEN_MS = 60_000;

describe.skipIf(!hasCluster())('resizes of pods under a PriorityQuota', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  let priorityClassName = '';
  let quota = '';

  beforeAll(async () => {
    const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
    await api.patch(`/api/v1/namespaces/${api.namespace}`, { metadata: { labels } }, 'merge');
    priorityClassName = await objects.priorityClass('sized', 10);
    const hard = { 'requests.memory': '1Gi' };
    quota = await objects.priorityQuota('quota', {
      namespaceSelector: onlyIn(api),
      priorityClassNames: [priorityClassName],
      hard,
    });
    // Every replica knows it when a pod that is too large is refused.
    await eventually(async () => expect((await create('2Gi', { dryRun: 'All' })).status).toBe(403), 20_000);
  });

  function create(memory: string, query: Record<string, string> = {}): Promise<Answer> {
    const containers = [sized(memory)];
    return api.post(api.core('pods'), pod(uniqueName('pod'), { priorityClassName, containers }), { query });
  }

  function resize(name: string, memory: string): Promise<Answer> {
    return api.patch(api.core(`pods/${name}/resize`), { spec: { containers: [sized(memory)] } }, 'strategic');
  }

  async function created(memory: string): Promise<string> {
    const { status, body } = await create(memory);
    expect([status, at(body, 'message')]).toEqual([201, undefined]);
    return textAt(body, 'metadata.name');
  }

  async function ledger(): Promise<{ used: unknown; reserved: unknown }> {
    const { body } = await api.get(`${PRIORITY_QUOTAS}/${quota}`);
    const reservations = (at(body, 'status.reservations') ?? []) as readonly object[];
    return { used: at(body, 'status.used'), reserved: reservations.length };
  }

  function untilUsed(memory: string): Promise<void> {
    const expected = { used: { 'requests.memory': memory }, reserved: 0 };
    return eventually(async () => expect(await ledger()).toEqual(expected), SEEN_MS);
  }

  test('are forgotten as soon as the pod is counted with them', { timeout: 4 * SEEN_MS }, async () => {
    const name = await created('128Mi');
    for (const [memory, status] of [
      ['512Mi', 200],
      ['128Mi', 200],
      ['512Mi', 200],
      ['128Mi', 200],
    ] as const) {
      const answer = await resize(name, memory);
      expect([answer.status, at(answer.body, 'message')]).toEqual([status, undefined]);
    }
    const { body } = await api.get(`${PRIORITY_QUOTAS}/${quota}`);
    const generations = (at(body, 'status.reservations') as readonly unknown[]).map((each) => at(each, 'generation'));
    expect(generations.filter((generation) => generation !== undefined)).not.toEqual([]);
    await untilUsed('128Mi');
    await api.remove(api.core(`pods/${name}`));
    await untilUsed('0');
  });

  test('are charged while the last one is still infeasible', { timeout: 4 * SEEN_MS }, async () => {
    const name = await created('512Mi');
    const status = {
      conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
      containerStatuses: [
        {
          name: 'main',
          image: '',
          imageID: '',
          ready: true,
          restartCount: 0,
          resources: { requests: { memory: '512Mi' } },
        },
      ],
    };
    const told = await api.patch(api.core(`pods/${name}/status`), { status }, 'strategic');
    expect([told.status, at(told.body, 'status.containerStatuses.0.resources.requests.memory')]).toEqual([
      200,
      '512Mi',
    ]);
    expect((await resize(name, '4608Mi')).status).toBe(403);
    expect((await resize(name, '1Gi')).status).toBe(200);
    await untilUsed('1Gi');
  });
});

function sized(memory: string): object {
  return { name: 'main', image: 'registry.test/idle:1', resources: { requests: { memory } } };
}
