import { z } from 'zod';
import { PRIORITY_POLICIES } from '#shared/kube/resource.ts';
import { PRIORITY_POLICY_SPEC } from '#shared/api/priority-policy.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import {
  AGE,
  column,
  conditions,
  generation,
  type KindDefinition,
  READY,
  wideColumn,
} from '#tools/definitions/kind-definition.ts';

const STATUS = described(
  z
    .object({
      observedGeneration: generation(),
      conditions: conditions(),
    })
    .partial(),
  'Observed state of this policy.',
);

export const PRIORITY_POLICY_DEFINITION: KindDefinition = {
  resource: PRIORITY_POLICIES,
  columns: [
    column('Default', 'string', '.spec.defaultPriorityClassName', 'Default class of pods that name none'),
    column('Max', 'integer', '.spec.maxPriority', 'Highest allowed priority'),
    column('Preemption', 'string', '.spec.preemption', 'Whether pods may preempt other pods'),
    column('Violation', 'string', '.spec.onViolation', 'What happens to a pod that violates the policy'),
    wideColumn('Allowed', 'string', '.spec.allowedPriorityClassNames'),
    READY,
    AGE,
  ],
  schema: described(
    z.object({ spec: PRIORITY_POLICY_SPEC, status: STATUS.optional() }),
    'PriorityPolicy defines which priority classes pods may use, by namespace and user. Every policy that selects a pod applies to it.',
  ),
};
