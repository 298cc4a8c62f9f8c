import { encodeObject, encodeSelector, present } from '#shared/api/encode-fields.ts';
import type { NodePressurePolicySpec } from './spec.ts';

/** A NodePressurePolicy as the API server takes it, with the fields that are set. */
export function encodeNodePressurePolicy(name: string, { nodeSelector, ...spec }: NodePressurePolicySpec): object {
  const selector = nodeSelector && encodeSelector(nodeSelector);
  return encodeObject('NodePressurePolicy', { name }, { spec: present({ nodeSelector: selector, ...spec }) });
}
