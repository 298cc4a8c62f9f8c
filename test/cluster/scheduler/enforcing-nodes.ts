export const NODE_POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';

/** Avoid lists, taints and conditions of every node are written, and taints go as soon as the pressure ends. */
export const ENFORCING_NODES = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressurePolicy',
  metadata: { name: 'enforcing-nodes' },
  spec: { avoidance: { mode: 'Enforce' }, taints: { mode: 'Enforce', transitionPeriod: '0s' } },
};
