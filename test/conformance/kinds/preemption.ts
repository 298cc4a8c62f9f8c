import { createSnapshot } from '#shared/domain/model/create-snapshot.ts';
import type { Candidate } from '#shared/domain/preemption/node-outcome.ts';
import { planPreemption, type PreemptionPlan } from '#shared/domain/preemption/plan-preemption.ts';
import type { Decoded } from '#shared/kube/decoded.ts';
import { decodeBudget } from '#shared/kube/decode-budget.ts';
import { decodeNamespace } from '#shared/kube/decode-namespace.ts';
import { decodeNode } from '#shared/kube/decode-node.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';

interface Vector {
  readonly nodes: readonly unknown[];
  readonly pods: readonly unknown[];
  readonly nominated?: readonly unknown[];
  readonly pdbs?: readonly unknown[];
  readonly namespaces?: readonly unknown[];
  readonly pod: unknown;
}

interface Want {
  readonly unschedulable: string;
  readonly eligible: boolean;
  readonly message?: string;
  readonly candidates: readonly unknown[];
  readonly best: readonly string[];
}

/** Kinds `preemption-fit` and `preemption-full`: whom kube-scheduler would remove, and where. */
export function answer(vector: Vector): { readonly want: Want } {
  const snapshot = createSnapshot({
    nodes: decodeAll(vector.nodes, decodeNode),
    pods: decodeAll([...vector.pods, ...(vector.nominated ?? [])], decodePod),
    budgets: decodeAll(vector.pdbs ?? [], decodeBudget),
    namespaces: decodeAll(vector.namespaces ?? [], decodeNamespace),
  });
  const [pod] = decodeAll([vector.pod], decodePod);
  if (pod === undefined) throw new Error('the case has no pod');
  return { want: describe(planPreemption(snapshot, pod)) };
}

function decodeAll<T>(raws: readonly unknown[], decode: (raw: unknown) => Decoded<T>): readonly T[] {
  return raws.map((raw) => {
    const decoded = decode(raw);
    if (!decoded.ok) throw new Error(`cannot read ${decoded.field}: ${decoded.message}`);
    return decoded.value;
  });
}

function describe(plan: PreemptionPlan): Want {
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

function describeCandidate({ node, victims, budgetViolations }: Candidate) {
  const names = victims.map(({ pod }) => `${pod.namespace}/${pod.name}`);
  return { node, victims: names, numPDBViolations: budgetViolations };
}
