import { describe, expect, test } from 'vitest';
import { planRound, type Placement, type ReviewCandidates } from '#sandbox/scheduler/plan-round.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
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

const asProposed: ReviewCandidates = (_pod, candidates) => Promise.resolve(candidates);

interface Cluster {
  readonly running?: readonly Pod[];
  readonly nodes?: readonly ReturnType<typeof buildNode>[];
  readonly review?: ReviewCandidates;
}

async function plan(waiting: readonly Pod[], { running = [], nodes = [node], review = asProposed }: Cluster = {}) {
  const placements: string[] = [];
  const round = planRound({ nodes, pods: [...running, ...waiting] }, waiting, review);
  for await (const placement of round) placements.push(inShort(placement));
  return placements;
}

describe('planRound', () => {
  test('places the most important pod first, and counts it for the next', async () => {
    const low = pod('low', '600Mi', { priority: 1 });
    const high = pod('high', '600Mi', { priority: 2 });
    expect(await plan([low, high])).toEqual([
      'high to sandbox',
      expect.stringMatching(/^low waits: 0\/1 nodes are available: 1 Insufficient memory\./),
    ]);
  });

  test('of equally important pods the older goes first', async () => {
    const older = { ...pod('older', '600Mi'), createdAt: 1 };
    const newer = { ...pod('newer', '600Mi'), createdAt: 2 };
    expect((await plan([newer, older]))[0]).toBe('older to sandbox');
  });

  test('preempts a lower pod and keeps the room for the higher', async () => {
    const running = [pod('batch', '800Mi', { priority: -100, node: 'sandbox', startedAt: 1 })];
    const waiting = [pod('critical', '700Mi', { priority: 100 }), pod('later', '700Mi', { priority: 50 })];
    expect(await plan(waiting, { running })).toEqual([
      'critical instead of batch',
      expect.stringMatching(/^later waits: /),
    ]);
  });

  describe('with an extender', () => {
    const running = [
      pod('lowest', '300Mi', { priority: -200, node: 'sandbox', startedAt: 1 }),
      pod('low', '300Mi', { priority: -100, node: 'sandbox', startedAt: 1 }),
    ];
    const waiting = [pod('critical', '700Mi', { priority: 100 }), pod('small', '100Mi', { priority: 50 })];

    test('takes the victims that it leaves', async () => {
      const review: ReviewCandidates = (_pod, candidates, find) => {
        const victim = find('sandbox', 'uid-low');
        return Promise.resolve(candidates.map((each) => ({ ...each, victims: victim === undefined ? [] : [victim] })));
      };
      expect((await plan(waiting, { running, review }))[0]).toBe('critical instead of low');
    });

    test('waits where it leaves no node, and keeps no room', async () => {
      const review: ReviewCandidates = () => Promise.resolve([]);
      expect(await plan(waiting, { running, review })).toEqual([
        expect.stringMatching(/^critical waits: .* preemption: no candidate node for preemption$/),
        'small to sandbox',
      ]);
    });

    test('asks only about preemptions, and finds only pods of the node', async () => {
      const asked: unknown[] = [];
      const review: ReviewCandidates = ({ name }, candidates, find) => {
        asked.push([
          name,
          candidates.map((each) => each.node),
          find('other', 'uid-low'),
          find('sandbox', 'uid-critical'),
        ]);
        return Promise.resolve(candidates);
      };
      await plan(waiting.slice(0, 1), { running, review });
      expect(asked).toEqual([['critical', ['sandbox'], undefined, undefined]]);
    });
  });

  test('leaves pods of equal priority alone', async () => {
    const running = [pod('one', '800Mi', { node: 'sandbox' })];
    expect(await plan([pod('two', '800Mi')], { running })).toEqual([
      expect.stringMatching(/^two waits: .*No preemption victims/),
    ]);
  });

  test('takes the node with the fewest pods, then the first by name', async () => {
    const nodes = ['b', 'a', 'c'].map((name) =>
      buildNode({ name, allocatable: { cpu: '4', memory: '1Gi', pods: '9' } }),
    );
    const running = [pod('there', '1Mi', { node: 'a' })];
    expect(await plan([pod('new', '1Mi')], { running, nodes })).toEqual(['new to b']);
  });

  test('heeds the node selector and taints', async () => {
    const tainted = buildNode({
      name: 'tainted',
      allocatable: { memory: '1Gi', pods: '9' },
      taints: [{ key: 'own', value: '', effect: 'NoSchedule' }],
    });
    expect(await plan([pod('plain', '1Mi')], { nodes: [tainted] })).toEqual([
      expect.stringMatching(/untolerated taint/),
    ]);
    const picky = pod('picky', '1Mi', { scheduling: { nodeSelector: new Map([['disk', 'ssd']]) } });
    expect(await plan([picky])).toEqual([expect.stringMatching(/didn't match Pod's node affinity\/selector/)]);
  });
});
