import { z } from 'zod';
import { NODE_PRESSURE_POLICIES } from '#shared/kube/resource.ts';
import { NODE_PRESSURE_POLICY_SPEC } from '#shared/api/node-pressure-policy/spec.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { time } from '#shared/api/schema/fields.ts';
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
      nodes: described(z.int().min(0), 'Number of nodes that this policy applies to.', { format: 'int32' }),
      thresholds: described(
        z
          .array(
            z.object({
              rule: z.string().min(1).max(256),
              state: described(
                z.enum(['New', 'Held', 'Confirmed']),
                'New: a node can hold it for all. Held: no further node begins to enforce it. Confirmed: no node can hold it for others any more.',
              ),
              generation: described(
                z.int().min(0),
                'Generation of this policy when the threshold reached this state.',
                { format: 'int64' },
              ),
              since: time(),
              nodes: described(
                z.array(z.string().max(253)).max(16),
                'Nodes that met the threshold and have not been relieved since, at most 16.',
                { 'x-kubernetes-list-type': 'atomic' },
              ).optional(),
            }),
          )
          .max(32),
        'Thresholds of this policy, and whether a node keeps them from being enforced. A threshold that a node meets when it comes into force is held on all nodes.',
        { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['rule'] },
      ),
      conditions: conditions(),
    })
    .partial(),
  'Observed state of this policy.',
);

export const NODE_PRESSURE_POLICY_DEFINITION: KindDefinition = {
  resource: NODE_PRESSURE_POLICIES,
  columns: [
    column(
      'Mode',
      'string',
      '.spec.mode',
      'Whether pods are evicted (Enforce) or evictions are only reported (DryRun)',
    ),
    column(
      'Order',
      'integer',
      '.spec.order',
      'Of the policies that select a node, the one with the highest order applies',
    ),
    column('Hard-Memory', 'string', '.spec.evictionHard.memory\\.available'),
    column('Soft-Memory', 'string', '.spec.evictionSoft.memory\\.available'),
    wideColumn('Ranking', 'string', '.spec.ranking.preset'),
    wideColumn('CPU-Mode', 'string', '.spec.cpu.mode'),
    AGE,
  ],
  schema: described(
    z.object({ spec: NODE_PRESSURE_POLICY_SPEC, status: STATUS.optional() }),
    'NodePressurePolicy defines when a node is under pressure and which pods are evicted first. Of the policies that select a node, the one with the highest order applies as a whole; if orders are equal, the first by name.',
  ),
};
