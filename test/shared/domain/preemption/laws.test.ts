import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { refusalOn } from '#shared/domain/placement/trial/examine-nodes.ts';
import type { NodeCandidate } from '#shared/domain/placement/victims/choose-node.ts';
import { planPreemption } from '#shared/domain/placement/plan/plan-preemption.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import { victimsOnNode } from '#shared/domain/placement/victims/victims-on-node.ts';
import { crowdedScenes, resourceScenes, type Scene } from './arbitrary-cluster.ts';

const RUNS = { numRuns: 400 };

function candidatesOf(scene: Scene): readonly NodeCandidate[] {
  const plan = planPreemption(createSnapshot(scene), scene.pod);
  return plan.kind === 'preempt' ? plan.candidates : [];
}

function fitsWithout(scene: Scene, node: string, gone: readonly Pod[]): boolean {
  const snapshot = createSnapshot(scene);
  for (const pod of gone) removePod(snapshot, pod);
  const entry = snapshot.nodes.get(node);
  return entry !== undefined && refusalOn(prefilter(snapshot, scene.pod), entry) === undefined;
}

function podsOf({ victims }: NodeCandidate): readonly Pod[] {
  return victims.map(({ pod }) => pod);
}

describe.each([
  ['resources only', resourceScenes],
  ['with company to mind', crowdedScenes],
])('%s', (_, scenes) => {
  test('the pod fits once the victims are gone', () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const candidates = candidatesOf(scene);
        expect(candidates.filter((each) => !fitsWithout(scene, each.node, podsOf(each)))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('no victim is superfluous', () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const superfluous = candidatesOf(scene).flatMap((candidate) => {
          const pods = podsOf(candidate);
          return pods.filter((pod) =>
            fitsWithout(
              scene,
              candidate.node,
              pods.filter((other) => other !== pod),
            ),
          );
        });
        expect(superfluous).toEqual([]);
      }),
      RUNS,
    );
  });

  test('every victim has a strictly lower priority', () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const victims = candidatesOf(scene).flatMap(podsOf);
        expect(victims.filter(({ spec }) => (spec.priority ?? 0) >= (scene.pod.spec.priority ?? 0))).toEqual([]);
      }),
      RUNS,
    );
  });

  test('the same cluster gives the same plan, whatever the order of its nodes', () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const reversed = { ...scene, nodes: scene.nodes.toReversed() };
        expect(planOf(reversed)).toEqual(planOf(scene));
      }),
      RUNS,
    );
  });

  test('planning leaves the snapshot as it was', () => {
    fc.assert(
      fc.property(scenes, (scene) => {
        const snapshot = createSnapshot(scene);
        const first = planPreemption(snapshot, scene.pod);
        expect(planPreemption(snapshot, scene.pod)).toEqual(first);
      }),
      RUNS,
    );
  });
});

function namesOf({ node, victims }: NodeCandidate): object {
  return { node, victims: victims.map(({ pod }) => pod.name) };
}

function planOf(scene: Scene): object {
  const plan = planPreemption(createSnapshot(scene), scene.pod);
  if (plan.kind !== 'preempt') return { kind: plan.kind, text: plan.kind === 'fits' ? '' : plan.unschedulable };
  const { candidates, best, because, unschedulable } = plan;
  const byNode = candidates.toSorted((a, b) => (a.node < b.node ? -1 : 1)).map(namesOf);
  return { kind: plan.kind, unschedulable, best, because, byNode };
}

test('adding up resources finds the same victims as asking every filter', () => {
  fc.assert(
    fc.property(resourceScenes, (scene) => {
      const snapshot = createSnapshot(scene);
      const state = prefilter(snapshot, scene.pod);
      expect(state.isResourcesOnly).toBe(true);
      const thorough = { ...state, isResourcesOnly: false };
      for (const entry of snapshot.nodes.values()) {
        expect(victimsOnNode(state, entry)).toEqual(victimsOnNode(thorough, entry));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a pod that may not be taken is never a victim', () => {
  fc.assert(
    fc.property(crowdedScenes, (scene) => {
      const mayTake = (pod: Pod): boolean => pod.labels.get('app') !== 'a';
      const plan = planPreemption(createSnapshot(scene), scene.pod, { mayTake });
      const victims = plan.kind === 'preempt' ? plan.candidates.flatMap(podsOf) : [];
      expect(victims.filter((pod) => !mayTake(pod))).toEqual([]);
    }),
    RUNS,
  );
});

test('hard budgets leave no candidate that breaks one, and change no other', () => {
  fc.assert(
    fc.property(crowdedScenes, (scene) => {
      const plan = planPreemption(createSnapshot(scene), scene.pod, { budgets: 'Hard' });
      const hard = plan.kind === 'preempt' ? plan.candidates : [];
      const unbroken = candidatesOf(scene).filter(({ budgetViolations }) => budgetViolations === 0);
      expect(hard.map(namesOf)).toEqual(unbroken.map(namesOf));
    }),
    RUNS,
  );
});
