import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { eventually } from '#test/build/waiting.ts';
import { summaryNode } from './summary-node.ts';
import { wirePod, type WirePod } from './wire-node.ts';

const WITHIN = 60_000;
const PODS = '/api/v1/pods';
const BUDGETS = '/apis/policy/v1/poddisruptionbudgets';
const NO_LIMITS = { perMinute: 50, perTenMinutes: 50, perNamespaceTenMinutes: 50 };
const ENFORCE = { mode: 'Enforce', limits: NO_LIMITS };

const node = summaryNode();

/** What each pod uses; the rest of the node's 1,000 MiB is available, but for 50. */
function short(usageMiB: Readonly<Record<string, number>>): void {
  Object.assign(node, { availableMiB: 50, usageMiB });
}

/** Evicted pods end at once, and their memory is available again. */
function endEvicted(): void {
  const { api } = node.agent;
  api.onEvicted = (namespace, name) => {
    api.remove(PODS, `${namespace}/${name}`);
    const { [name]: freed = 0, ...usageMiB } = node.usageMiB;
    Object.assign(node, { availableMiB: node.availableMiB + freed, usageMiB });
  };
}

async function start(pods: readonly StoredObject[], policy: object = ENFORCE): Promise<void> {
  const metadata = { annotations: { 'plimsoll.dev/confirmed-generation': '1' } };
  await node.start({ pods, policy, metadata });
  endEvicted();
}

function podOf(name: string, requestMiB: number, more: Partial<WirePod> = {}): StoredObject {
  return wirePod({ name, requestMiB, ...more });
}

/** The first passes know no namespaces yet, and say so. */
async function untilNoEligiblePod(message: RegExp): Promise<void> {
  const expected = { status: 'True', reason: 'NoEligiblePod', message: expect.stringMatching(message) as string };
  await eventually(() => expect(node.condition('Memory')).toMatchObject(expected), WITHIN);
}

describe('whom the agent process asks', { timeout: 120_000 }, () => {
  describe('without an order in the policy', () => {
    const pods = [
      podOf('within', 600, { priority: -10 }),
      podOf('low', 10, { priority: 1 }),
      podOf('lower', 10, { priority: 0 }),
      podOf('lower-and-larger', 100, { priority: 0 }),
    ];
    const inOrder = ['lower-and-larger', 'lower', 'low'];
    const evictionHard = { 'memory.available': '510Mi' };
    // The smaller of two equal priorities uses the larger share of its request. All but one are too few to end the shortage.
    beforeEach(() => short({ within: 450, low: 150, lower: 100, 'lower-and-larger': 200 }));

    test('above its request, then lower priority, then more above its request, and at last pods within theirs (S1-28, S1-29)', async () => {
      await start(pods, { ...ENFORCE, evictionHard });
      await eventually(() => expect(node.asked()).toEqual([...inOrder, 'within']), WITHIN);
    });

    test('with protect.withinRequest no pod within its request for a soft threshold (S1-29)', async () => {
      const soft = { evictionSoft: evictionHard, evictionSoftGracePeriod: { 'memory.available': '1s' } };
      await start(pods, { ...ENFORCE, ...soft, protect: { withinRequest: true } });
      await eventually(() => expect(node.asked()).toHaveLength(3), WITHIN);
      await untilNoEligiblePod(/1 ProtectedWithinRequest/);
      expect(node.asked()).toEqual(inOrder);
    });
  });

  test('the hog, and not twelve small pods above their requests that would use up the windows', async () => {
    const sleepers = Array.from({ length: 12 }, (_, index) => `sleep-${index}`);
    const pods = [...sleepers.map((name) => podOf(name, 1)), podOf('hog', 10, { priority: 100 })];
    short({ ...Object.fromEntries(sleepers.map((name) => [name, 2])), hog: 900 });
    await start(pods, { mode: 'Enforce', limits: { perMinute: 2, perTenMinutes: 4 } });
    await eventually(() => expect(node.asked()).toContain('hog'), WITHIN);
    expect(node.asked()).toEqual(['hog']);
  });

  describe('while a pod is resized in place, the requests that its kubelet has allocated count (B3)', () => {
    const next = podOf('next', 10, { priority: 5 });
    const within = podOf('within', 500);

    /** Its spec requests one amount, its kubelet has allocated another; `pending` says why not yet. */
    function resized(name: string, requestMiB: number, allocatedMiB: number, pending?: string): StoredObject {
      const pod = podOf(name, requestMiB);
      const requests = { memory: `${allocatedMiB}Mi` };
      const container = { name: 'main', image: '', imageID: '', ready: true, restartCount: 0 };
      const condition = pending && { type: 'PodResizePending', status: 'True', reason: pending };
      const status = {
        ...(pod['status'] as object),
        conditions: condition === undefined ? [] : [condition],
        containerStatuses: [{ ...container, resources: { requests }, allocatedResources: requests }],
      };
      return { ...pod, status };
    }

    test.each(['Deferred', 'Infeasible'])('a larger request that is %s makes no pod small', async (pending) => {
      short({ hog: 500, next: 300, within: 150 });
      await start([resized('hog', 800, 10, pending), podOf('next', 10), within]);
      await eventually(() => expect(node.asked()).toEqual(['hog']), WITHIN);
    });

    test('a smaller request that is not allocated yet makes no pod large', async () => {
      short({ shrinking: 400, next: 300, within: 200 });
      await start([resized('shrinking', 10, 500), next, within]);
      await eventually(() => expect(node.asked()).toEqual(['next']), WITHIN);
    });
  });

  describe('while something keeps the pod that took most', () => {
    const hog = podOf('hog', 10);
    const next = podOf('next', 10, { priority: 5 });
    const within = podOf('within', 500);
    const usage = { hog: 300, next: 250, within: 400 };

    beforeEach(() => short(usage));

    /** Nobody goes in its place. */
    async function expectNobody(held: RegExp): Promise<void> {
      await untilNoEligiblePod(held);
      expect(node.asked().filter((name) => name !== 'hog')).toEqual([]);
    }

    function withBudget(): void {
      node.agent.api.put(BUDGETS, {
        metadata: { name: 'all', namespace: 'default' },
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'hog' } } },
        status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
      });
      const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      node.agent.api.put(PODS, { ...hog, metadata: { ...hog.metadata, labels: { app: 'hog' } }, status: ready });
    }

    /** Lists and watches show the hog as it is; a read before its eviction fails. */
    function withFailingRead(): void {
      const path = '/api/v1/namespaces/default/pods/hog';
      const { api } = node.agent;
      const { onRequest } = api;
      api.onRequest = (asked) =>
        asked.method === 'GET' && asked.path === path
          ? { kind: 'answer', status: 500, body: { message: 'etcdserver: request timed out' } }
          : onRequest(asked);
    }

    function unreadable(): StoredObject {
      return {
        ...hog,
        spec: {
          ...(hog['spec'] as object),
          containers: [{ name: 'main', resources: { requests: { memory: 'much' } } }],
        },
      };
    }

    test('a budget: no other pod above its request either', async () => {
      await start([next, within]);
      withBudget();
      await expectNobody(/default\/hog.*budget/);
    });

    test('a budget, beside a pod within its request: nobody, and the condition names both', async () => {
      await start([within]);
      withBudget();
      await expectNobody(/default\/hog.*budget/);
    });

    test('a read that fails: no other pod above its request either', async () => {
      await start([]);
      withFailingRead();
      for (const pod of [hog, next, within]) node.agent.api.put(PODS, pod);
      await expectNobody(/default\/hog/);
    });

    test('it cannot be read at all: the next pod above its request, and none within', async () => {
      await start([unreadable(), next, within]);
      await eventually(() => expect(node.asked()).toContain('next'), WITHIN);
      expect(node.asked().filter((name) => name !== 'hog')).toEqual(['next']);
    });

    test('a grace period of a day does not keep it: in the severe stage it has a second', async () => {
      const slow = { ...hog, spec: { ...(hog['spec'] as object), terminationGracePeriodSeconds: 86_400 } };
      await start([slow, within]);
      await eventually(() => expect(node.asked()).toEqual(['hog']), WITHIN);
      const eviction = node.agent.api.writes.find(({ path }) => path.endsWith('/eviction'));
      expect(eviction?.body['deleteOptions']).toMatchObject({ gracePeriodSeconds: 1 });
    });
  });
});
