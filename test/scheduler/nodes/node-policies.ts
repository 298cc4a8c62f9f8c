/** The path of NodePressurePolicies. */
export const NODE_POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';

/** A NodePressurePolicy as it is sent. */
export function nodePolicy(name: string, spec: object): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressurePolicy', metadata: { name }, spec };
}

/** Taints of a node are written, and go as soon as the pressure ends. */
export const WRITING_TAINTS = { taints: { mode: 'Enforce', transitionPeriod: '0s' } };
