import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import { findPod } from '#cli/cluster/find-pod.ts';
import { placementOf } from '#cli/cluster/placement.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { preemptView, type PreemptView } from '#shared/decide/simulation/preempt-view.ts';
import { makeSnapshot } from '#cli/snapshot/make-snapshot.ts';
import { createPseudonyms } from '#cli/snapshot/pseudonyms.ts';
import { readVectors, type Vector } from '#test/conformance/read-vectors.ts';
import { manifestsOf, pendingPod, vectorCluster, type RecordedAnswer } from './vector-cluster.ts';

const VECTORS = ['preemption-fit', 'preemption-full'].flatMap((kind) => readVectors(kind));
const pseudonym = createPseudonyms(createHash('sha256').update('test').digest());

function simulate(cluster: ClusterManifests, pod: string): PreemptView {
  const model = clusterModel(cluster);
  return preemptView(
    placementOf(model, findPod(model, pod, 'default'), { extender: false, budgets: 'BestEffort', now: 0 }),
  );
}

/** What both answers say; the text of a pod that fits says nothing. */
function comparable({ nodes, candidates, outcome }: PreemptView) {
  const isPreemption = outcome === 'preempts';
  return {
    best: isPreemption ? nodes : [],
    candidates: isPreemption ? candidates.map(({ node, victims }) => ({ node, victims })) : [],
    fits: outcome === 'fits',
  };
}

function expected({ want }: Vector) {
  const { candidates, best, unschedulable } = want as RecordedAnswer;
  return {
    best: best.slice(0, 1),
    candidates: candidates.map(({ node, victims }) => ({ node, victims })),
    fits: unschedulable === '',
  };
}

function saved({ manifests, ...rest }: ClusterManifests, isRedacted: boolean): ClusterManifests {
  const snapshot = makeSnapshot({ manifests, takenAt: '2026-01-01T00:00:00Z' }, isRedacted ? pseudonym : undefined);
  return { ...rest, manifests: manifestsOf(snapshot.items) };
}

function renamed(pod: string): string {
  const [namespace = '', name = ''] = pod.split('/');
  const isKept = ['default', 'kube-system'].includes(namespace);
  return `${isKept ? namespace : pseudonym('ns', namespace)}/${pseudonym('pod', name)}`;
}

describe('plimsoll simulate preempt answers as kube-scheduler did', () => {
  test('in every recorded case', () => {
    const wrong = VECTORS.map((vector) => ({
      got: comparable(simulate(vectorCluster(vector), pendingPod(vector))),
      want: expected(vector),
    })).filter(({ got, want }) => JSON.stringify(got) !== JSON.stringify(want));
    expect(wrong.slice(0, 2)).toEqual([]);
    expect(VECTORS.length).toBeGreaterThan(2_000);
  });

  test('from a snapshot, which keeps every field that decides', () => {
    const wrong = VECTORS.map((vector) => ({
      got: comparable(simulate(saved(vectorCluster(vector), false), pendingPod(vector))),
      want: expected(vector),
    })).filter(({ got, want }) => JSON.stringify(got) !== JSON.stringify(want));
    expect(wrong.slice(0, 2)).toEqual([]);
  });

  test('from a redacted snapshot, with other names', () => {
    const wrong = VECTORS.map((vector) => {
      const want = expected(vector);
      const candidates = want.candidates.map(({ node, victims }) => ({ node, victims: victims.map(renamed) }));
      const got = comparable(simulate(saved(vectorCluster(vector), true), renamed(pendingPod(vector))));
      return { got, want: { ...want, candidates } };
    }).filter(({ got, want }) => JSON.stringify(got) !== JSON.stringify(want));
    expect(wrong.slice(0, 2)).toEqual([]);
  });
});
