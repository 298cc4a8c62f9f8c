import { z } from 'zod';
import { QUEUES } from '#shared/kube/resource.ts';
import { MAX_RESOURCES, QUEUE_SPEC } from '#shared/api/queue.ts';
import { evictedPods } from '#shared/api/evicted-pods.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { amounts, time } from '#shared/api/schema/fields.ts';
import {
  AGE,
  column,
  conditions,
  generation,
  type KindDefinition,
  READY,
  wideColumn,
} from '#tools/definitions/kind-definition.ts';

const BOUNDS = { maxProperties: MAX_RESOURCES };

/** The leader of the queues writes it. */
const STATUS = z
  .object({
    observedGeneration: generation(),
    deserved: amounts('What the queue deserves now.', BOUNDS),
    allocated: amounts(
      'What the queue may hold now: its share, without what pods of other queues have to free first. For all queues together, allocated and preempting are what there is, as far as pods request it.',
      BOUNDS,
    ),
    used: amounts('Requests of pods that were let in and are on a node.', BOUNDS),
    preempting: amounts(
      'The part of its share that pods of other queues have to free first. It becomes allocated when they are gone.',
      BOUNDS,
    ),
    pending: amounts('Requests of pods that wait behind the scheduling gate.', BOUNDS),
    waitingPods: described(z.int().min(0), 'Number of pods that wait behind the scheduling gate.', { format: 'int32' }),
    oldestWaiting: time('Creation of the pod that waits longest.'),
    evicted: evictedPods(
      'The last pods that were evicted to make room for pods of this queue, the oldest first. Disruptions read their cause here.',
    ),
    conditions: conditions(),
  })
  .partial();

export const QUEUE_DEFINITION: KindDefinition = {
  resource: QUEUES,
  columns: [
    column('Parent', 'string', '.spec.parent'),
    column('Weight', 'integer', '.spec.weight'),
    column('Used-Cpu', 'string', '.status.used.cpu'),
    column('Deserved-Cpu', 'string', '.status.deserved.cpu'),
    column('Used-Memory', 'string', '.status.used.memory'),
    column('Deserved-Memory', 'string', '.status.deserved.memory'),
    column('Waiting', 'integer', '.status.waitingPods'),
    column('Oldest', 'date', '.status.oldestWaiting'),
    wideColumn('Guaranteed-Cpu', 'string', '.spec.guaranteed.cpu'),
    wideColumn('Guaranteed-Memory', 'string', '.spec.guaranteed.memory'),
    wideColumn('Max-Cpu', 'string', '.spec.max.cpu'),
    wideColumn('Max-Memory', 'string', '.spec.max.memory'),
    READY,
    AGE,
  ],
  schema: described(
    z
      .object({
        spec: QUEUE_SPEC,
        status: described(STATUS, 'How the queue stands. The leader of the queues writes it.'),
      })
      .partial(),
    'Queue shares the cluster among groups of pods. Pods of namespaces with the label plimsoll.dev/queues=managed or plimsoll.dev/managed=true wait behind a scheduling gate until their queue has room for them.',
    {
      'x-kubernetes-validations': [
        {
          rule: "self.metadata.name == 'root' || !has(self.spec) || !has(self.spec.capacity)",
          message: 'spec.capacity must only be set on the queue root',
        },
        {
          rule: "self.metadata.name == 'root' || !has(self.spec) || !has(self.spec.reclaim)",
          message: 'spec.reclaim must only be set on the queue root',
        },
        {
          rule: "self.metadata.name != 'root' || !has(self.spec) || !has(self.spec.parent)",
          message: 'spec.parent must not be set on the queue root',
        },
        {
          rule: '!has(self.spec) || !has(self.spec.parent) || self.spec.parent != self.metadata.name',
          message: 'spec.parent must not be the queue itself',
        },
        {
          rule: '!has(self.spec) || !has(self.spec.childTemplate) || size(self.metadata.name) <= 189',
          message:
            'the name of a queue with spec.childTemplate must have at most 189 characters, because it begins the names of the queues below it',
        },
        {
          rule: "oldSelf.hasValue() || size(self.metadata.name) <= 63 || (has(self.spec) && has(self.spec.parent) && self.metadata.name.startsWith(self.spec.parent + '.'))",
          optionalOldSelf: true,
          message:
            'the name of a queue must have at most 63 characters, because pods and namespaces name it in a label; only the queues of a template, whose names begin with that of their parent, may have more',
        },
      ],
    },
  ),
};
