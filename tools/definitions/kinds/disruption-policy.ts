import { z } from 'zod';
import { DISRUPTION_POLICIES } from '#shared/kube/resource.ts';
import { DISRUPTION_POLICY_SPEC } from '#shared/api/disruption-policy.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { AGE, column, conditions, type KindDefinition } from '#tools/definitions/kind-definition.ts';

const STATUS = described(
  z
    .object({
      forbiddingBudgets: described(z.int(), 'PodDisruptionBudgets that forbid every eviction.', { format: 'int32' }),
      conditions: conditions('ForbiddingBudgets is True if some budgets forbid every eviction, and names them.', 8),
    })
    .partial(),
  'What the policy found.',
);

export const DISRUPTION_POLICY_DEFINITION: KindDefinition = {
  resource: DISRUPTION_POLICIES,
  columns: [
    column('Budgets', 'string', '.spec.forbiddingBudgets'),
    column('Forbidding', 'integer', '.status.forbiddingBudgets'),
    AGE,
  ],
  schema: described(
    z.object({ spec: DISRUPTION_POLICY_SPEC, status: STATUS.optional() }),
    'DisruptionPolicy holds the limits of disruptions for owners without one, and what happens to budgets that forbid everything. There is one, named plimsoll.',
    {
      'x-kubernetes-validations': [
        { rule: "self.metadata.name == 'plimsoll'", message: 'must be named plimsoll, there is only one' },
      ],
    },
  ),
};
