import { describe, expect, test } from 'vitest';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import { readVectors } from '#test/conformance/read-vectors.ts';
import { passOver, type RecordedPod, type RecordedSnapshot } from './recorded-cluster.ts';
import { policyOf, type RecordedSettings, rulesOf } from './recorded-settings.ts';

interface Case {
  readonly id: string;
  readonly family: string;
  readonly snapshot: RecordedSnapshot;
  readonly settings: RecordedSettings;
}

const CASES = readVectors('rescheduling') as unknown as readonly Case[];

function passOf({ snapshot, settings }: Case): ReschedulingResult {
  const asked = { policy: policyOf(settings, 'High'), rules: rulesOf(settings), memory: NO_MEMORY, most: 100 };
  return passOver(snapshot, asked);
}

/** What the descheduler never evicts either, and what we never do. */
function isProtected(pod: RecordedPod, { protect }: RecordedSettings): boolean {
  const has = (key: string): boolean => pod.annotations?.[key] !== undefined;
  return [
    !['ReplicaSet', 'StatefulSet', 'Job'].includes(pod.owner?.kind ?? ''),
    protect.optOut && has('descheduler.alpha.kubernetes.io/prefer-no-eviction'),
    has('kubernetes.io/config.mirror'),
    pod.node === undefined,
    pod.terminating,
    pod.phase !== 'Running',
    pod.priority >= 2_000_000_000,
    pod.namespace === 'kube-system',
    pod.localStorage,
  ].includes(true);
}

describe('the 200 clusters that the descheduler was recorded on', () => {
  const passes = CASES.map((each) => ({ each, result: passOf(each) }));

  test('some pods are moved', () => {
    expect(CASES).toHaveLength(200);
    expect(passes.filter(({ result }) => result.moves.length > 0).length).toBeGreaterThan(50);
  });

  test('no protected pod is moved, and none to or from a closed node', () => {
    const wrong = passes.flatMap(({ each, result }) => {
      const pods = new Map(each.snapshot.pods.map((pod) => [pod.uid, pod]));
      const closed = new Set(each.snapshot.nodes.filter(isClosed).map(({ name }) => name));
      return result.moves
        .filter(({ pod, from, expectedOn }) => {
          const recorded = pods.get(pod.placed.pod.uid) as RecordedPod;
          return isProtected(recorded, each.settings) || [from, ...expectedOn].some((name) => closed.has(name));
        })
        .map(({ pod }) => `${each.id} ${pod.placed.pod.name}`);
    });
    expect(wrong).toEqual([]);
  });

  test('no budget is asked for more than it allows', () => {
    const wrong = passes.flatMap(({ each: { id, snapshot }, result }) =>
      (snapshot.budgets ?? [])
        .filter((budget) => {
          const { matchLabels = {} } = budget.selector as { readonly matchLabels?: Readonly<Record<string, string>> };
          const covered = result.moves.filter(({ pod: { placed } }) => {
            const isOf = Object.entries(matchLabels).every(([key, value]) => placed.pod.labels.get(key) === value);
            return isOf && placed.pod.namespace === budget.namespace;
          });
          return covered.length > budget.disruptionsAllowed;
        })
        .map(({ name }) => `${id} ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('no owner loses more than a third of its pods, or its last one', () => {
    const wrong = passes.flatMap(({ each, result }) => {
      const byOwner = Map.groupBy(result.moves, ({ pod }) => pod.owner);
      return [...byOwner]
        .filter(
          ([owner, moves]) => moves.length > Math.max(1, owner.pods.length / 3) || moves.length >= owner.pods.length,
        )
        .map(([owner]) => `${each.id} ${owner.id}`);
    });
    expect(wrong).toEqual([]);
  });

  test('the same cluster gives the same moves', () => {
    const named = ({ moves }: ReschedulingResult) => moves.map(({ pod, gain }) => [pod.placed.pod.uid, gain]);
    for (const { each, result } of passes.slice(0, 40)) expect(named(passOf(each))).toEqual(named(result));
  });
});

function isClosed({ notReady, unschedulable, taints = [] }: RecordedSnapshot['nodes'][number]): boolean {
  const effects = taints.map((taint) => (taint as { readonly effect?: string }).effect);
  return (
    notReady === true || unschedulable === true || effects.some((each) => each === 'NoSchedule' || each === 'NoExecute')
  );
}
