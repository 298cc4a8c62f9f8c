import type { Disruption } from '#shared/domain/disruption/disruption.ts';
import { ageText } from '#shared/domain/base/texts.ts';
import { isSameOwner, ownerKeyOf, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import {
  type DisruptionSource,
  type ReadDisruptions,
  disruptionsIn,
  readDisruptions,
} from '#cli/cluster/read-disruptions.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { lossesNotKnown, oneLoss, ownerLost } from './messages.ts';

/** The Disruptions of a pod's namespace, or why they could not be read. */
export type RecordsOfNamespace = Pick<ReadDisruptions, 'disruptions' | 'isServed'> & {
  readonly problem?: string | undefined;
};

/** Reads them in addition to a cluster; without permission to list them, the caller still gets all other answers. */
export async function recordsBeside(
  read: ClusterManifests,
  source: DisruptionSource,
  io: Pick<ProcessIo, 'standardInput' | 'now'>,
): Promise<RecordsOfNamespace> {
  if (source.filename !== undefined) return disruptionsIn(source, read);
  const { ListForbidden } = await import('#cli/cluster/list-all.ts');
  return readDisruptions(source, io).catch((error: unknown) => {
    if (!(error instanceof ListForbidden)) throw error;
    return { disruptions: [], isServed: true, problem: error.message };
  });
}

const DAYS = 7;
const PERIOD_MS = DAYS * 86_400_000;
const MAX_SHOWN = 3;

/** The pods that the owner of a pod lost in the last days, the latest few by name; empty if none. */
export function ownerLosses(
  { disruptions, problem }: Omit<RecordsOfNamespace, 'isServed'>,
  pod: Pod,
  now: Instant,
): string {
  if (problem !== undefined) return lossesNotKnown(problem);
  const own = disruptions.filter((each) => now - each.spec.removedAt < PERIOD_MS && isOfOwner(each, pod));
  if (own.length === 0) return '';
  return ownerLost({
    count: own.reduce((sum, { outcome }) => sum + outcome.count, 0),
    days: DAYS,
    latest: own.slice(0, MAX_SHOWN).map(({ spec }) => oneLoss(spec.pod, spec.cause, ageText(spec.removedAt, now))),
    namespace: pod.namespace,
  });
}

function isOfOwner({ namespace, spec }: Disruption, pod: Pod): boolean {
  const owner = ownerKeyOf(pod);
  return owner !== undefined && spec.owner !== undefined && isSameOwner(owner, { ...spec.owner, namespace });
}
