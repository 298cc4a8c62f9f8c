import { z } from 'zod';
import { QUEUE_SELECTORS } from '#shared/kube/resource.ts';
import { QUEUE_SELECTORS_SPEC } from '#shared/api/queue-selectors.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { AGE, type KindDefinition } from '#tools/definitions/kind-definition.ts';

export const QUEUE_SELECTORS_DEFINITION: KindDefinition = {
  resource: QUEUE_SELECTORS,
  columns: [AGE],
  schema: described(
    z.object({ spec: QUEUE_SELECTORS_SPEC }),
    'QueueSelectors tells the API server which namespaces each Queue takes. The leader of the queues writes it.',
  ),
};
