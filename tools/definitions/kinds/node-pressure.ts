import { z } from 'zod';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { NODE_PRESSURE_SPEC, NODE_PRESSURE_STATUS } from '#shared/api/node-pressure-fields.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { AGE, column, type KindDefinition, wideColumn } from '#tools/definitions/kind-definition.ts';

const MEMORY = '.status.signals[?(@.name=="memory.available")]';

export const NODE_PRESSURE_DEFINITION: KindDefinition = {
  resource: NODE_PRESSURES,
  columns: [
    column(
      'Mode',
      'string',
      '.status.mode',
      'Whether pods are evicted (Enforce) or evictions are only reported (DryRun)',
    ),
    column('Memory', 'string', '.status.conditions[?(@.type=="Memory")].reason', 'State of the memory signals'),
    column('Available', 'string', `${MEMORY}.available`, 'Memory available'),
    column('Threshold', 'string', `${MEMORY}.threshold`, 'Eviction threshold of memory.available'),
    column('Next', 'string', '.status.next[0].pod', 'The pod that would be evicted first'),
    wideColumn('Agree', 'string', '.status.conditions[?(@.type=="SourcesAgree")].status'),
    wideColumn('Observed', 'date', '.status.observedAt'),
    AGE,
  ],
  schema: described(
    z.object({ spec: NODE_PRESSURE_SPEC, status: NODE_PRESSURE_STATUS }).partial(),
    'NodePressure reports the resource pressure of one node and the evictions by its agent. It has the name of the node. The agent updates it every six minutes, within two if figures move, and every 20 seconds while a threshold is met. After seven minutes without an update (one while a threshold is met), the state of the node counts as unknown.',
  ),
};
