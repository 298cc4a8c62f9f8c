import { governingPolicy, type NodePolicyView, nodePolicyViews, policyEntry } from '#dashboard/views/node-policies.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';

const RULE = 'memory.available < 1Gi for 0 s reclaim nothing';

/** One that applies to every third node and is held by one, and one that cannot be read and selects no node. */
const POLICIES = [
  {
    metadata: { name: 'batch', generation: 2 },
    spec: {
      nodeSelector: { matchLabels: { pool: 'batch' } },
      order: 10,
      mode: 'Enforce',
      evictionHard: { 'memory.available': '1Gi' },
      evictionSoft: { 'memory.available': '10%' },
      evictionSoftGracePeriod: { 'memory.available': '1m' },
      evictionSoftMode: { 'memory.available': 'DryRun' },
      limits: { perMinute: 9 },
    },
    status: {
      thresholds: [{ rule: RULE, state: 'Held', generation: 2, since: '2026-11-26T03:00:00Z', nodes: ['node-003'] }],
      conditions: [
        { type: 'Ready', status: 'False', reason: 'Held', message: 'a threshold waits for node-003', generation: 2 },
      ],
    },
  },
  {
    metadata: { name: 'typo' },
    spec: { nodeSelector: { matchLabels: { pool: 'none' } }, evictionHard: { 'memory.available': 'much' } },
  },
].map(policyEntry);

/** The policies of a generated cluster: every third node is of the pool `batch`. */
export function generatedPolicies(pressures: readonly NodePressure[], now: number): readonly NodePolicyView[] {
  const named = POLICIES.map((each) => each.named);
  const governing = pressures.map(({ name }, index) => {
    const labels: Record<string, string> = index % 3 === 0 ? { pool: 'batch' } : {};
    return [name, governingPolicy(named, { name, labels })] as const;
  });
  return nodePolicyViews({ policies: POLICIES, governing: new Map(governing), pressures, now });
}
