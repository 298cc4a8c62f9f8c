import { describe, expect, test } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import { summaryNode } from './summary-node.ts';
import { wirePod } from './wire-node.ts';

const WITHIN = 60_000;
const PODS = '/api/v1/pods';
const NODES = '/api/v1/nodes';
const NAMES = ['a', 'b', 'c'];

describe('victims that do not terminate', { timeout: 120_000 }, () => {
  const node = summaryNode();

  test('two of them keep the agent neither from the third pod above its request, nor turn it to one within', async () => {
    const pods = NAMES.map((name) => wirePod({ name, requestMiB: 10 }));
    const within = wirePod({ name: 'within', requestMiB: 500 });
    Object.assign(node, { availableMiB: 50, usageMiB: { a: 150, b: 150, c: 150, within: 400 } });
    const limits = { perMinute: 20, perTenMinutes: 20, perNamespaceTenMinutes: 20 };
    await node.start({ pods: [...pods, within], policy: { mode: 'Enforce', limits } });
    const { api } = node.agent;
    api.onEvicted = (_, name) => {
      const pod = wirePod({ name, requestMiB: 10 });
      const deletion = { deletionTimestamp: new Date().toISOString(), deletionGracePeriodSeconds: 1 };
      api.put(PODS, { ...pod, metadata: { ...pod.metadata, ...deletion } });
    };
    await eventually(() => expect(new Set(node.asked())).toEqual(new Set(NAMES)), WITHIN);
    await eventually(
      () => expect(node.condition('Memory')).toMatchObject({ status: 'True', reason: 'NoEligiblePod' }),
      WITHIN,
    );
    expect(node.asked()).not.toContain('within');
  });

  test.each([
    ['six of them keep only themselves while the kubelet reports that it is ready', 'True', 7],
    ['four of them stop the agent if the kubelet reports that it is not', 'False', 4],
  ])('%s', async (_, ready, most) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    Object.assign(node, { availableMiB: 50, usageMiB: Object.fromEntries(names.map((name) => [name, 100])) });
    const limits = { perMinute: 20, perTenMinutes: 20, perNamespacePerTenMinutes: 20 };
    const pods = names.map((name) => wirePod({ name, requestMiB: 10 }));
    await node.start({ pods, policy: { mode: 'Enforce', limits } });
    const { api } = node.agent;
    api.put(NODES, { metadata: { name: 'n1' }, status: { conditions: [{ type: 'Ready', status: ready }] } });
    api.onEvicted = (_, name) => {
      const pod = wirePod({ name, requestMiB: 10 });
      const deletion = { deletionTimestamp: new Date().toISOString(), deletionGracePeriodSeconds: 1 };
      api.put(PODS, { ...pod, metadata: { ...pod.metadata, ...deletion } });
    };
    await eventually(() => expect(new Set(node.asked()).size).toBe(most), WITHIN);
    const held = most < names.length ? 'Stuck' : 'NoCandidate';
    await eventually(() => expect(node.condition('Memory')).toMatchObject({ reason: held }), WITHIN);
    expect(new Set(node.asked()).size).toBe(most);
  });
});
