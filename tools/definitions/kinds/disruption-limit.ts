import { z } from 'zod';
import { DISRUPTION_LIMITS } from '#shared/kube/resource.ts';
import { DISRUPTION_LIMIT_SPEC } from '#shared/api/disruption-limit.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { time } from '#shared/api/schema/fields.ts';
import { AGE, column, type KindDefinition, wideColumn } from '#tools/definitions/kind-definition.ts';

const STATUS = described(
  z
    .object({
      observedGeneration: described(z.int(), 'Generation of the spec that this status is about.', { format: 'int64' }),
      expectedPods: described(z.int(), 'Pods that there should be.', { format: 'int32' }),
      podsUp: described(z.int(), 'Pods that are Ready and not terminating.', { format: 'int32' }),
      minAvailable: described(z.int(), 'Pods that must stay Ready.', { format: 'int32' }),
      windows: described(
        z
          .array(
            z.object({
              window: described(z.string().max(16), 'Length of the time.'),
              removed: described(z.int(), 'Pods removed within that time until now.', { format: 'int32' }),
              max: described(z.int(), 'Pods that may be removed within it.', { format: 'int32' }),
              left: described(z.int(), 'Pods that may still be removed.', { format: 'int32' }),
              roomAt: time('When the next pod may be removed. Absent if one may be now.').optional(),
            }),
          )
          .max(8),
        'One for each of spec.limits, in the same order.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      debits: described(
        z
          .array(
            z.object({
              uid: described(z.string().min(1).max(128), 'UID of the pod.'),
              pod: described(z.string().max(253), 'Name of the pod.'),
              at: time('When it was removed or its eviction was let through.'),
              component: described(z.string().max(64), 'Component for which it counts.'),
              cause: described(
                z.string().max(64),
                'What removed it. Absent until the removal has been seen.',
              ).optional(),
              caller: described(z.string().max(253), 'User that asked for it.').optional(),
              overran: described(
                z.string().max(260),
                'Limit that the severe stage of the agent went beyond.',
              ).optional(),
            }),
          )
          .max(10),
        'The last removals that count.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
    })
    .partial(),
  'What the limit counts now. It is written every few seconds when it changes.',
);

export const DISRUPTION_LIMIT_DEFINITION: KindDefinition = {
  resource: DISRUPTION_LIMITS,
  columns: [
    column('Pods-Up', 'integer', '.status.podsUp'),
    column('Expected', 'integer', '.status.expectedPods'),
    column('Removed', 'integer', '.status.windows[0].removed'),
    column('Max', 'integer', '.status.windows[0].max'),
    column('Left', 'integer', '.status.windows[0].left'),
    column('Window', 'string', '.spec.limits[0].window'),
    wideColumn('Min-Available', 'string', '.spec.minAvailable'),
    AGE,
  ],
  schema: described(
    z.object({ spec: DISRUPTION_LIMIT_SPEC, status: STATUS.optional() }),
    'DisruptionLimit limits how many pods may be removed within a time, and how many must stay up. Every removal counts, whatever its cause. In namespaces with the label plimsoll.dev/disruption-limits=enforced or plimsoll.dev/managed=true, all evictions beyond it are refused. In others, only those by Plimsoll are.',
  ),
};
