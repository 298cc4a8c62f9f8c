import { z } from 'zod';
import { DISRUPTION_ACCOUNTS } from '#shared/kube/resource.ts';
import { ACCOUNT_STATUS } from '#shared/api/disruption-account.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { AGE, type KindDefinition } from '#tools/definitions/kind-definition.ts';

const SPEC = described(
  z.object({ comment: described(z.string().max(253), 'For people.').optional() }),
  'Holds nothing. All of it is status.',
);

export const DISRUPTION_ACCOUNT_DEFINITION: KindDefinition = {
  resource: DISRUPTION_ACCOUNTS,
  columns: [AGE],
  schema: described(
    z.object({ spec: SPEC, status: ACCOUNT_STATUS }).partial(),
    "DisruptionAccount counts the removed pods of a namespace that a limit covers. There is one, named plimsoll; plimsoll-webhook and plimsoll-controller write it. In the namespace plimsoll-system there is another, named plimsoll-evictions, in which plimsoll-webhook counts the evictions by Plimsoll's own accounts.",
    {
      'x-kubernetes-validations': [
        {
          rule: "self.metadata.name in ['plimsoll', 'plimsoll-evictions']",
          message: 'must be named plimsoll, there is only one in a namespace',
        },
      ],
    },
  ),
};
