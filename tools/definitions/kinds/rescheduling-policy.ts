import { z } from 'zod';
import { RESCHEDULING_POLICIES } from '#shared/kube/resource.ts';
import { RESCHEDULING_POLICY_SPEC } from '#shared/api/rescheduling-policy.ts';
import { evictedPods } from '#shared/api/evicted-pods.ts';
import { STOPPED_OWNERS } from '#shared/api/rescheduling-status.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { time } from '#shared/api/schema/fields.ts';
import { AGE, column, conditions, type KindDefinition, wideColumn } from '#tools/definitions/kind-definition.ts';

const STATUS = described(
  z
    .object({
      lastPass: time('When it was made.'),
      mode: described(z.string(), 'The mode in which it was made.'),
      considered: described(z.int(), 'Pods that a policy looked at.'),
      planned: described(z.int(), 'Moves that it decided on.'),
      moved: described(z.int(), 'Evictions that the API server accepted.'),
      moves: described(
        z
          .array(
            z
              .object({
                pod: described(z.string(), 'Namespace and name.'),
                policy: described(z.string(), 'underused, affinity or badService.'),
                from: described(z.string(), 'The node of the pod.'),
                expectedOn: described(z.string(), 'Where kube-scheduler is expected to place the replacement.'),
                gain: described(z.string(), 'In points.'),
                because: described(z.string(), 'Why.'),
              })
              .partial(),
          )
          .max(20),
        'The first moves.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      evicted: evictedPods('The last pods that were evicted, the oldest first. Disruptions read their cause here.'),
      left: described(
        z
          .array(
            z
              .object({
                code: described(z.string(), 'The reason.'),
                count: described(z.int(), 'How many pods stayed for it.'),
                example: described(z.string(), 'The sentence for one of them.'),
              })
              .partial(),
          )
          .max(20),
        'Why other pods stayed, most frequent reason first.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      overTarget: described(
        z
          .array(
            z
              .object({
                node: described(z.string(), 'The node.'),
                text: described(z.string(), 'How far it is above its target.'),
                obstacle: described(z.string(), 'Why it stays above: how many of its pods stay for which reason.'),
              })
              .partial(),
          )
          .max(20),
        'Nodes that are above their target once the moves are done, the fullest first.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      keptAway: described(
        z
          .array(
            z
              .object({
                owner: described(z.string(), 'Namespace, kind and name.'),
                node: described(z.string(), 'The node.'),
                text: described(z.string(), 'Why.'),
              })
              .partial(),
          )
          .max(20),
        'Owners whose pods kubelets refused, with the nodes that they are kept away from. In a dry run, that they would be kept away from.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
      stopped: STOPPED_OWNERS,
      conditions: conditions(),
      policies: described(
        z
          .array(
            z
              .object({
                policy: described(z.string(), 'underused, affinity or badService.'),
                rate: described(
                  z.string(),
                  'Share of the moves that it may make; halved after three passes that missed their gain.',
                ),
                expected: described(z.string(), 'Gain that was expected, in points.'),
                reached: described(z.string(), 'Gain that was reached.'),
              })
              .partial(),
          )
          .max(3),
        'What the moves of each policy brought, as far as their replacements are placed.',
        { 'x-kubernetes-list-type': 'atomic' },
      ),
    })
    .partial(),
  'The last pass.',
);

export const RESCHEDULING_POLICY_DEFINITION: KindDefinition = {
  resource: RESCHEDULING_POLICIES,
  columns: [
    column('Mode', 'string', '.spec.mode', 'Whether pods are moved (Enforce) or moves are only reported (DryRun)'),
    column('Last-Pass', 'date', '.status.lastPass', 'When the last pass was made'),
    column('Considered', 'integer', '.status.considered', 'Pods that the last pass looked at'),
    column('Planned', 'integer', '.status.planned', 'Moves that the last pass decided on'),
    column('Moved', 'integer', '.status.moved', 'Evictions of the last pass that the API server accepted'),
    wideColumn('Aggressiveness', 'string', '.spec.aggressiveness'),
    AGE,
  ],
  schema: described(
    z.object({ spec: RESCHEDULING_POLICY_SPEC, status: STATUS.optional() }),
    'ReschedulingPolicy defines which running pods are moved because kube-scheduler would place them better elsewhere. It promises nothing; its status tells what the last pass looked at and decided.',
  ),
};
