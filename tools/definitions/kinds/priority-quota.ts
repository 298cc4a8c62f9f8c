import { z } from 'zod';
import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { PRIORITY_QUOTA_SPEC } from '#shared/api/priority-quota.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { signedAmounts, time } from '#shared/api/schema/fields.ts';
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
      ledgerVersion: described(
        z.int().min(1),
        "Version of the ledger's format. A webhook that does not know the version does not write the ledger.",
      ),
      recounts: described(z.int().min(0), 'Number of recounts of used from the pods that exist.', { format: 'int64' }),
      counted: described(
        z.object({
          recount: described(z.int().min(0), 'Number of that recount.', { format: 'int64' }),
          pods: described(z.int().min(0), 'Latest change of a pod.', { format: 'int64' }),
          namespaces: described(z.int().min(0), 'Latest change of a Namespace.', { format: 'int64' }),
        }),
        'Resource versions that the latest recount had observed. A replica that has observed less does not recount.',
      ),
      used: signedAmounts('Total requests of admitted pods, with reservations and slices.', { maxProperties: 64 }),
      byNamespace: described(
        z
          .array(
            z.object({
              namespace: z.string().max(63),
              used: signedAmounts('Total requests of admitted pods in this namespace.', {
                isRequired: true,
                maxProperties: 64,
              }),
            }),
          )
          .max(100),
        'Requests by namespace at the latest recount, for the largest holders. Does not include reservations.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      slices: described(
        z
          .array(
            z.object({
              holder: z.string().min(1).max(316),
              renewals: described(
                z.int().min(0),
                'Increases while the holder runs. If it does not increase for some minutes, the slice is taken back.',
                { format: 'int64' },
              ),
              wanted: described(
                z.boolean(),
                'Whether another replica needs the room and the holder should return it.',
              ).optional(),
              amounts: signedAmounts(
                'Sum of what the holder spent since the latest recount and what it may still spend.',
                { isRequired: true, maxProperties: 4096 },
              ),
            }),
          )
          .max(64),
        'Slices: quota room that one replica of the webhook may spend alone. used includes all of them.',
        { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['holder'] },
      ),
      reservations: described(
        z
          .array(
            z.object({
              uid: z.string().max(128),
              namespace: z.string().max(63),
              pod: z.string().max(253).optional(),
              admittedAt: time(),
              generation: described(
                z.int().min(1),
                'Generation of the pod after its resize is stored. Absent for a new pod.',
                { format: 'int64' },
              ).optional(),
              claim: described(
                z.string().max(64),
                'UID of the admission request that may release the reservation. Absent if several requests were for the same pod.',
              ).optional(),
              nameTaken: described(
                z.boolean(),
                'Whether the latest recount counted a pod of this name. used includes the larger of the two, not both.',
              ).optional(),
              amounts: signedAmounts('Requests of the pod.', { isRequired: true, maxProperties: 64 }),
            }),
          )
          .max(1000),
        'Charges whose pods have not been observed yet.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      conditions: conditions(),
    })
    .partial(),
  'Ledger of the quota. The replicas of the webhook update it by compare-and-swap. used is never less than the requests of admitted pods.',
);

export const PRIORITY_QUOTA_DEFINITION: KindDefinition = {
  resource: PRIORITY_QUOTAS,
  columns: [
    column('Used-Memory', 'string', '.status.used.requests\\.memory'),
    column('Hard-Memory', 'string', '.spec.hard.requests\\.memory'),
    column('Used-Pods', 'string', '.status.used.pods'),
    column('Hard-Pods', 'string', '.spec.hard.pods'),
    wideColumn('Classes', 'string', '.spec.priorityClassNames'),
    READY,
    AGE,
  ],
  schema: described(
    z.object({ spec: PRIORITY_QUOTA_SPEC, status: STATUS.optional() }),
    'PriorityQuota limits the total requests of pods by priority, across namespaces. It is enforced in namespaces with the label plimsoll.dev/priority-quota=enforced or plimsoll.dev/managed=true.',
  ),
};
