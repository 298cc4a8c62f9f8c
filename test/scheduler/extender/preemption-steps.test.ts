import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { extenderVerbs } from '#scheduler/extender/extender-verbs.ts';
import { preemptionRules } from '#scheduler/extender/preemption-rules.ts';
import type { PreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';
import { fixedClasses } from '#test/build/classes.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { buildPressure } from '#test/build/node-pressure.ts';
import { loopsAfter } from '#test/scheduler/preemptions/loops-after.ts';

const NODES = 64;
const VICTIMS = 20;
const NOW = 1_000_000;
/** Nodes of which a step may look at the victims. */
const NODES_PER_STEP = 16;
const names = Array.from({ length: NODES }, (_, node) => `n${node}`);
const uidOf = (node: string, rank: number): string => `uid-${node}-${rank}`;

interface Case {
  readonly usageAware?: boolean;
  readonly loops?: PreemptionLoops;
  /** Whether a pod of each node ends by itself that has as much as its victims. */
  readonly isEnding?: boolean;
}

/** A map that counts how often something was looked up. */
class CountedMap<K, V> extends Map<K, V> {
  lookUps = 0;

  override get(key: K): V | undefined {
    this.lookUps += 1;
    return super.get(key);
  }
}

function clusterOf({ isEnding, usageAware }: Case) {
  const deletion = { at: NOW + 10_000, gracePeriodSeconds: 30 };
  const nodes = names.map((name) => buildNode({ name, allocatable: { cpu: String(2 * VICTIMS) } }));
  const pods = names.flatMap((node) => [
    buildPod({ name: `${node}-0`, node, requests: { cpu: String(VICTIMS) }, ...(isEnding === true && { deletion }) }),
    ...Array.from({ length: VICTIMS }, (_, rank) =>
      buildPod({ name: `${node}-${rank + 1}`, node, priority: rank, requests: { cpu: '1' } }),
    ),
  ]);
  const snapshot = createSnapshot({ nodes, pods });
  if (usageAware === true)
    for (const name of names) snapshot.pressures.set(name, buildPressure(name, { observedAt: NOW }));
  return snapshot;
}

function question(): Buffer {
  const Pods = (node: string) => Array.from({ length: VICTIMS }, (_, at) => ({ UID: uidOf(node, VICTIMS - at) }));
  const proposed = names.map((name) => [name, { Pods: Pods(name), NumPDBViolations: 0 }] as const);
  const containers = [{ name: 'main', resources: { requests: { cpu: String(VICTIMS) } } }];
  const Pod = { metadata: { name: 'a', namespace: 'default', uid: 'u' }, spec: { priority: 1_000, containers } };
  const args = { Pod, NodeNameToVictims: null, NodeNameToMetaVictims: Object.fromEntries(proposed) };
  return Buffer.from(JSON.stringify(args));
}

/** The look-ups of victims in each step of one answer. */
function lookUpsOf(asked: Case): readonly number[] {
  const { loops = loopsAfter(0), usageAware = false } = asked;
  const snapshot = clusterOf(asked);
  const placedPods = new CountedMap(snapshot.placedPods);
  const log = createLog({ component: 'test', level: 'silent', format: 'json' });
  const verbs = extenderVerbs({
    loops,
    events: { record: () => undefined },
    snapshot: { ...snapshot, placedPods },
    missing: () => [],
    isStale: () => false,
    idleFor: () => 0,
    voided: { note: () => undefined },
    rules: preemptionRules(
      { budgets: 'BestEffort', usageAware, tieBreak: 'none' },
      { classes: fixedClasses([]), loops },
    ),
    clock: { now: () => NOW },
    log,
    metrics: createMetrics('test'),
  });
  const steps = verbs.get('/preempt')?.({ body: question(), isOverloaded: false, exhausted: () => undefined });
  const found: number[] = [];
  while (steps?.next().done === false) {
    found.push(placedPods.lookUps);
    placedPods.lookUps = 0;
  }
  return [...found, placedPods.lookUps];
}

describe('the work of one step of a preemption', () => {
  test.each<[string, Case]>([
    ['that looks for equal victims of pods above their requests', { usageAware: true }],
    ['that reports loops', { loops: loopsAfter(3) }],
    ['that may wait for room', { isEnding: true }],
  ])('is bounded by some nodes: one %s', (_, asked) => {
    const lookUps = lookUpsOf(asked);
    expect(lookUps.reduce((a, b) => a + b, 0)).toBeGreaterThanOrEqual(NODES * VICTIMS);
    expect(Math.max(...lookUps)).toBeLessThanOrEqual(NODES_PER_STEP * VICTIMS);
  });
});
