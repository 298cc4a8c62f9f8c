import { ANNOTATION_ADMITTED, COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';

export interface ClearMarksPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly pods: Pick<QueuedPods, 'forged'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
}

/** The label of a namespace may be seen later than the pods that another leader let in there. */
const SETTLED_MS = 60_000;
/** Per round, that is, per second. */
const MAX_WRITES = 20;
const WRITE = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;
const NO_MARK = { [ANNOTATION_ADMITTED]: null };

/** Removes marks that the leader did not write, so that they count for no later leader. Call it once a second. */
export async function clearMarks({ client, clock, log, pods, term }: ClearMarksPorts, signal: AbortSignal) {
  const due = Array.from(pods.forged()).filter(({ seenAt }) => clock.now() - seenAt >= SETTLED_MS);
  for (const { uid, namespace, name } of due.slice(0, MAX_WRITES)) {
    if (signal.aborted || !term.isHeld()) return;
    const patch = { metadata: { uid, annotations: NO_MARK } };
    const outcome = await patchObject(client, { resource: PODS, namespace, name }, patch, { ...WRITE, signal });
    const pod = `${namespace}/${name}`;
    if (outcome.kind === 'ok') log.warn({ pod }, 'Removed a mark that the leader did not write');
    if (outcome.kind !== 'notFound') faultLog(log, 'Mark of another writer not removed').answered(pod, outcome);
  }
}
