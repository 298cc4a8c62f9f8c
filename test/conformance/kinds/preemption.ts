import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { NodeCandidate } from '#shared/domain/placement/victims/choose-node.ts';
import { planPreemption, type PreemptionPlan } from '#shared/domain/placement/plan/plan-preemption.ts';
import { decodeBudget, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { readList, readObject, type WireObject } from '#shared/kube/decode/wire-object.ts';
import { asIs, readCase, required } from '#test/conformance/required.ts';

/** Kinds `preemption-fit` and `preemption-full`: whom kube-scheduler would remove, and where. */
export function answer(raw: unknown): unknown {
  const vector = readCase(raw, readVector);
  const snapshot = createSnapshot({
    nodes: vector.nodes.map((node) => required(decodeNode(node))),
    pods: [...vector.pods, ...vector.nominated].map((pod) => required(decodePod(pod))),
    budgets: vector.pdbs.map((budget) => required(decodeBudget(budget))),
    namespaces: vector.namespaces.map((namespace) => required(decodeNamespace(namespace))),
  });
  return { want: describe(planPreemption(snapshot, required(decodePod(vector.pod)))) };
}

function readVector(vector: WireObject) {
  return {
    nodes: readList(vector, 'nodes', asIs),
    pods: readList(vector, 'pods', asIs),
    nominated: readList(vector, 'nominated', asIs),
    pdbs: readList(vector, 'pdbs', asIs),
    namespaces: readList(vector, 'namespaces', asIs),
    pod: readObject(vector, 'pod', asIs),
  };
}

function describe(plan: PreemptionPlan): unknown {
  switch (plan.kind) {
    case 'fits':
      return { unschedulable: '', eligible: false, candidates: [], best: [] };
    case 'notEligible':
    case 'noCandidate': {
      const { unschedulable, message } = plan;
      return { unschedulable, eligible: plan.kind === 'noCandidate', message, candidates: [], best: [] };
    }
    case 'preempt': {
      const candidates = plan.candidates.map(describeCandidate).sort((a, b) => (a.node < b.node ? -1 : 1));
      return { unschedulable: plan.unschedulable, eligible: true, candidates, best: plan.best };
    }
  }
}

function describeCandidate({ node, victims, budgetViolations }: NodeCandidate) {
  const names = victims.map(({ pod }) => `${pod.namespace}/${pod.name}`);
  return { node, victims: names, numPDBViolations: budgetViolations };
}
