import { decodeAdmitted } from '#shared/api/admitted.ts';
import { ageText } from '#shared/domain/base/texts.ts';
import { hasEnded, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import { ANNOTATION_ADMITTED, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { otherGates } from '#shared/kube/annotations/annotations.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeManifest } from '#cli/cluster/cluster-model.ts';
import { notShown, type NamespaceObjects, orInOwnNamespace, readOwnNamespace } from '#cli/cluster/own-namespace.ts';
import { tellIfEmpty } from '#cli/cluster/show-list.ts';
import { situationOf } from '#cli/explain/own-pod.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import { formatListing, type Listing } from '#cli/output/listing.ts';
import { isTable } from '#cli/output/output-option.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { runTopQueues, type TopQueuesOptions } from '#cli/top/run-top.ts';
import { inNoQueue } from './messages.ts';

export interface QueueListOptions extends TopQueuesOptions {
  readonly namespace?: string;
}

/** Carries out `plimsoll queue list`: all queues, or the pods of a namespace in them. */
export async function runQueueList(options: QueueListOptions, io: ProcessIo): Promise<void> {
  const ofNamespace = () => listPods(options, io);
  if (options.namespace !== undefined) await ofNamespace();
  else await orInOwnNamespace(() => runTopQueues(options, io), ofNamespace);
}

async function listPods(options: QueueListOptions, io: ProcessIo): Promise<void> {
  const read = await readOwnNamespace(options, io.now(), options.namespace);
  const rows = read.pods.flatMap((each) => rowOf(each, read));
  const list = listing(rows, io.now());
  if (isTable(options.output)) io.tell(`Warning: ${notShown('what queues deserve and use')}`);
  tellIfEmpty(list, inNoQueue(read.namespace), options, io);
  io.print(await formatListing(list, options));
}

interface QueuedPodRow {
  readonly metadata: { readonly namespace: string; readonly name: string };
  /** Absent for a waiting pod that names none: the namespace decides, and the reason says which it is. */
  readonly queue?: string;
  readonly state: 'Waits' | 'LetIn';
  readonly since?: string;
  readonly reason: string;
}

/** None for a pod that is in no queue. */
function rowOf(manifest: Manifest, read: NamespaceObjects): readonly QueuedPodRow[] {
  const pod = decodeManifest(manifest, decodePod);
  const placed = hasEnded(pod) ? undefined : placeOf(pod, otherGates(manifest.raw) !== undefined);
  if (placed === undefined) return [];
  const { queue, state, since } = placed;
  return [
    {
      metadata: { namespace: read.namespace, name: pod.name },
      ...(queue !== undefined && { queue }),
      state,
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      reason: situationOf(pod.name, manifest.raw, read).because.text,
    },
  ];
}

function placeOf({ labels, annotations, createdAt }: Pod, waits: boolean) {
  if (waits) return { state: 'Waits', queue: labels.get(LABEL_QUEUE), since: createdAt } as const;
  const admitted = decodeAdmitted(annotations.get(ANNOTATION_ADMITTED));
  return admitted && ({ state: 'LetIn', queue: admitted.queue, since: admitted.at } as const);
}

function listing(rows: readonly QueuedPodRow[], now: Instant): Listing<QueuedPodRow> {
  return {
    kind: 'QueuedPod',
    rows: rows.toSorted((a, b) => Number(a.state === 'LetIn') - Number(b.state === 'LetIn')),
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `pod/${metadata.name}`,
    columns: [
      { header: 'NAME', cell: ({ metadata }) => metadata.name },
      { header: 'QUEUE', cell: ({ queue }) => queue ?? '<of the namespace>' },
      { header: 'STATE', cell: ({ state }) => state },
      {
        header: 'SINCE',
        cell: ({ since }) => ageText(since === undefined ? undefined : Date.parse(since), now),
        isAge: true,
      },
      { header: 'REASON', cell: ({ reason }) => reason },
    ],
  };
}
