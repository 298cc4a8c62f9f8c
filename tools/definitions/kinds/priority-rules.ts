import { z } from 'zod';
import { PRIORITY_RULES } from '#shared/kube/resource.ts';
import { PRIORITY_RULES_SPEC } from '#shared/api/priority-rules.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import {
  AGE,
  column,
  conditions,
  generation,
  type KindDefinition,
  wideColumn,
} from '#tools/definitions/kind-definition.ts';

const STATUS = described(
  z
    .object({
      observedGeneration: generation(),
      policies: described(z.int().min(0), 'Number of PriorityPolicies in these rules.'),
      conditions: conditions(),
    })
    .partial(),
  'Observed state of these rules.',
);

export const PRIORITY_RULES_DEFINITION: KindDefinition = {
  resource: PRIORITY_RULES,
  columns: [
    column('Policies', 'integer', '.status.policies', 'Number of PriorityPolicies in these rules'),
    column('Current', 'string', '.status.conditions[?(@.type=="Current")].status'),
    wideColumn('Reason', 'string', '.status.conditions[?(@.type=="Current")].reason'),
    AGE,
  ],
  schema: described(
    z.object({ spec: PRIORITY_RULES_SPEC, status: STATUS.optional() }),
    'PriorityRules holds all PriorityPolicies, and PriorityQuotas that require their label, in the form that the API server evaluates. The webhook writes it; change the PriorityPolicies instead. The object `plimsoll` has the rules that deny, `plimsoll-warnings` those that warn, and `plimsoll-defaults` the classes and schedulers that pods are given.',
  ),
};
