/** A namespace whose pods may use `low` only, two of them. */
export const TENANT = 'team-a';
export const TENANT_LABELS = { 'plimsoll.dev/priority-quota': 'enforced' };

const apiVersion = 'plimsoll.dev/v1alpha1';
const namespaceSelector = { matchLabels: TENANT_LABELS };

/** What may be used and how much; the classes are those of the preemption scenario. */
export const RULES: readonly object[] = [
  {
    apiVersion,
    kind: 'PriorityPolicy',
    metadata: { name: 'tenants' },
    spec: { namespaceSelector, allowedPriorityClassNames: ['low'] },
  },
  {
    apiVersion,
    kind: 'PriorityQuota',
    metadata: { name: 'low' },
    spec: { namespaceSelector, priorityClassNames: ['low'], hard: { pods: '2' } },
  },
];

/** The agent of this node evicts below a hard threshold. */
export function enforcing(node: string): object {
  return pressurePolicy(node, { mode: 'Enforce', evictionHard: { 'memory.available': '200Mi' } });
}

/** The agent of this node sees a shortage whatever the machine has, and only reports. */
export function alwaysShort(node: string): object {
  return pressurePolicy(node, { mode: 'DryRun', evictionHard: { 'memory.available': '99%' } });
}

function pressurePolicy(node: string, spec: object): object {
  const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': node } };
  return { apiVersion, kind: 'NodePressurePolicy', metadata: { name: node }, spec: { nodeSelector, ...spec } };
}
