import { z } from 'zod';
import { byName } from '#shared/domain/base/texts.ts';
import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import { NO_QUEUE_AMOUNTS, queueAmounts, type QueueAmounts, queueQuantity } from '#shared/domain/queue/queue.ts';
import { decodeObject, readAmounts, readObject } from '#shared/kube/decode/wire-object.ts';
import { described } from './schema/crd-words.ts';
import { encodeBySchema } from './schema/decode-kind.ts';
import { amounts, labelSelector } from './schema/fields.ts';

const QUEUE = z.object({
  namespaceSelector: labelSelector('As in spec.namespaceSelector of the Queue. If absent, it selects no namespace.'),
});

export const QUEUE_SELECTORS_SPEC = described(
  z.object({
    queues: described(z.record(z.string(), QUEUE), 'The Queues, by name. One that is missing here may be named.', {
      'x-kubernetes-map-type': 'atomic',
    }),
    largestNode: amounts(
      'The most of each resource that is believed of one node. The next leader believes the nodes that there are so far.',
      { maxProperties: 64 },
    ),
  }),
  'What the API server reads instead of the Queues.',
);

/** The API server stores at most 1.5 MiB. What has no room is judged by the leader alone. */
const MAX_BYTES = 1_000_000;

/** The spec of the QueueSelectors; the first queues by name, as far as there is room. */
export function encodeQueueSelectors(
  queues: Iterable<{ readonly name: string; readonly namespaces: Pick<PreparedSelector, 'written'> }>,
  largestNode: QueueAmounts = NO_QUEUE_AMOUNTS,
): object {
  let left = MAX_BYTES;
  const kept = [...queues].sort(byName).flatMap(({ name, namespaces }) => {
    const entry = encodeBySchema(QUEUE, { namespaceSelector: namespaces.written });
    left -= name.length + JSON.stringify(entry).length;
    return left < 0 ? [] : [[name, entry] as const];
  });
  const quantities = new Map(Array.from(largestNode, ([type, amount]) => [type, queueQuantity(type, amount)]));
  const others = encodeBySchema(QUEUE_SELECTORS_SPEC, { queues: {}, largestNode: quantities });
  return { ...others, queues: Object.fromEntries(kept) };
}

/** What the last leader believed of one node; `undefined` if that is not said. */
export function decodeLargestNode(raw: unknown): QueueAmounts | undefined {
  const spec = decodeObject(raw, (object) => readObject(object, 'spec', (each) => readAmounts(each, 'largestNode')));
  return spec.ok && spec.value !== undefined ? queueAmounts(spec.value) : undefined;
}
