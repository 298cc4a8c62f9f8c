import { describe, expect, test } from 'vitest';
import { planRound, type Placement } from '#sandbox/scheduler/plan-round.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';

const node = buildNode({ name: 'sandbox', allocatable: { cpu: '4', memory: '1Gi', pods: '110' } });

function pod(name: string, memory: string, fields: Partial<Parameters<typeof buildPod>[0]> = {}) {
  return buildPod({ name, requests: { memory }, ...fields });
}

/** A placement in a few words. */
function inShort(placement: Placement): string {
  switch (placement.kind) {
    case 'bind':
      return `${placement.pod.name} to ${placement.node}`;
    case 'preempt':
      return `${placement.pod.name} instead of ${placement.victims.map(({ name }) => name).join(', ')}`;
    case 'wait':
      return `${placement.pod.name} waits: ${placement.message}`;
  }
}

function plan(waiting: Parameters<typeof planRound>[1], running: Parameters<typeof planRound>[1] = [], nodes = [node]) {
  return planRound({ nodes, pods: [...running, ...waiting] }, waiting).map(inShort);
}

describe('planRound', () => {
  test('places the most important pod first, and counts it for the next', () => {
    const low = pod('low', '600Mi', { priority: 1 });
    const high = pod('high', '600Mi', { priority: 2 });
    expect(plan([low, high])).toEqual([
      'high to sandbox',
      expect.stringMatching(/^low waits: 0\/1 nodes are available: 1 Insufficient memory\./),
    ]);
  });

  test('of equally important pods the older goes first', () => {
    const older = { ...pod('older', '600Mi'), createdAt: 1 };
    const newer = { ...pod('newer', '600Mi'), createdAt: 2 };
    expect(plan([newer, older])[0]).toBe('older to sandbox');
  });

  test('preempts a lower pod and keeps the room for the higher', () => {
    const running = [pod('batch', '800Mi', { priority: -100, node: 'sandbox', startedAt: 1 })];
    const waiting = [pod('critical', '700Mi', { priority: 100 }), pod('later', '700Mi', { priority: 50 })];
    expect(plan(waiting, running)).toEqual(['critical instead of batch', expect.stringMatching(/^later waits: /)]);
  });

  test('leaves pods of equal priority alone', () => {
    const running = [pod('one', '800Mi', { node: 'sandbox' })];
    expect(plan([pod('two', '800Mi')], running)).toEqual([
      expect.stringMatching(/^two waits: .*No preemption victims/),
    ]);
  });

  test('takes the node with the fewest pods, then the first by name', () => {
    const nodes = ['b', 'a', 'c'].map((name) =>
      buildNode({ name, allocatable: { cpu: '4', memory: '1Gi', pods: '9' } }),
    );
    const running = [pod('there', '1Mi', { node: 'a' })];
    expect(plan([pod('new', '1Mi')], running, nodes)).toEqual(['new to b']);
  });

  test('heeds the node selector and taints', () => {
    const tainted = buildNode({
      name: 'tainted',
      allocatable: { memory: '1Gi', pods: '9' },
      taints: [{ key: 'own', value: '', effect: 'NoSchedule' }],
    });
    expect(plan([pod('plain', '1Mi')], [], [tainted])).toEqual([expect.stringMatching(/untolerated taint/)]);
    const picky = pod('picky', '1Mi', { scheduling: { nodeSelector: new Map([['disk', 'ssd']]) } });
    expect(plan([picky])).toEqual([expect.stringMatching(/didn't match Pod's node affinity\/selector/)]);
  });
});
