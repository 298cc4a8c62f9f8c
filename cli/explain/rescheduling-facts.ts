import { decodeEvictedPods } from '#shared/api/evicted-pods.ts';
import { decodeReschedulingPolicy } from '#shared/api/rescheduling-policy.ts';
import { decodeStoppedOwners } from '#shared/api/rescheduling-status.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { ownerOf, type Pod } from '#shared/domain/pod/pod.ts';
import { runningGangsIn, withGangLimits } from '#shared/kube/annotations/running-gangs.ts';
import { limitsIn } from '#shared/domain/rescheduling/limit-room.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import { NO_MEASUREMENTS, readCluster } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import { nodesOf, type PassRequest, runPass } from '#shared/domain/rescheduling/run-pass.ts';
import { runningPod } from '#shared/domain/rescheduling/running-pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { moveRules } from '#shared/kube/annotations/annotations.ts';
import { apiVersionOf, RESCHEDULING_POLICIES } from '#shared/kube/resource.ts';
import { type ClusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { limitsBeside } from '#cli/cluster/read-disruptions.ts';
import { type ClusterManifests, readManifests } from '#cli/cluster/read-manifests.ts';
import { type Manifest, typeOf } from '#cli/manifests/parse-manifests.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { byPolicy, evictedByPolicy, ownerStopped, reschedulingNotKnown, staysWhere, wouldMove } from './messages.ts';

const TYPE = typeOf({ apiVersion: apiVersionOf(RESCHEDULING_POLICIES), kind: RESCHEDULING_POLICIES.kind });

/** The input of the explanation. */
export interface ReschedulingSources {
  readonly read: ClusterManifests;
  readonly model: ClusterModel;
  readonly options: ClusterOptions;
}

/**
 * Why each ReschedulingPolicy has moved a pod, would move it or leaves it in place: according to its status, else to a
 * pass over the cluster. `undefined` for a pod without a node, or if there is no policy.
 */
export async function reschedulingOf(
  pod: Pod,
  { read, model, options }: ReschedulingSources,
  io: Pick<ProcessIo, 'standardInput' | 'now'>,
): Promise<readonly string[] | undefined> {
  if (pod.spec.nodeName === undefined) return undefined;
  const found = await policiesOf(read, options, io);
  if (typeof found === 'string') return [reschedulingNotKnown(found)];
  if (found.length === 0) return undefined;
  const snapshot = createSnapshot(model);
  const limits = await limitsBeside(read, options, io);
  const limitsOf = withGangLimits(limitsIn(snapshot, limits, read.now), runningGangsIn(snapshot));
  return found.map((manifest) => {
    const policy = decodeManifest(manifest, decodeReschedulingPolicy);
    const why = fromStatus(pod, manifest) ?? fromPass(pod, policy, snapshot, { now: read.now, limitsOf });
    return byPolicy(policy.name, policy.mode, why);
  });
}

/** Without permission to list them, the caller still gets all other answers, and why these are unknown. */
async function policiesOf(
  read: ClusterManifests,
  options: ClusterOptions,
  io: Pick<ProcessIo, 'standardInput' | 'now'>,
): Promise<readonly Manifest[] | string> {
  if (options.filename !== undefined) return read.manifests.filter((each) => typeOf(each) === TYPE);
  const { ListForbidden } = await import('#cli/cluster/list-all.ts');
  return readManifests(options, [RESCHEDULING_POLICIES], io).then(
    ({ manifests }) => manifests,
    (error: unknown) => {
      if (error instanceof ListForbidden) return error.message;
      throw error;
    },
  );
}

/** Facts known only to the rescheduler. */
function fromStatus(pod: Pod, { raw }: Manifest): string | undefined {
  const evicted = decodeEvictedPods(raw).findLast(({ uid }) => uid === pod.uid);
  if (evicted !== undefined) return evictedByPolicy(new Date(evicted.at).toISOString(), evicted.because.text);
  const stop = decodeStoppedOwners(raw).find(({ owner }) => owner === ownerOf(pod));
  return stop && ownerStopped(new Date(stop.until).toISOString(), stop.text);
}

function fromPass(
  pod: Pod,
  policy: ReschedulingPolicy,
  snapshot: ClusterSnapshot,
  asked: Pick<PassRequest, 'now' | 'limitsOf'>,
): string {
  const rules = moveRules(snapshot.namespaces, policy.fitElsewhere);
  const { moves, stays } = finish(runPass(snapshot, policy, { ...asked, memory: NO_MEMORY, rules }));
  const move = moves.find((each) => each.pod.placed.pod.uid === pod.uid);
  if (move !== undefined) return wouldMove(move.expectedOn[0] ?? '', move.because.text);
  const stay = stays.find((each) => each.pod === `${pod.namespace}/${pod.name}`);
  return staysWhere((stay?.because ?? whyNeverMoved(pod, policy, snapshot, asked.now) ?? REASONS.notNeeded({})).text);
}

/** A pass does not list pods that no policy may move. */
function whyNeverMoved({ uid }: Pod, policy: ReschedulingPolicy, snapshot: ClusterSnapshot, now: number) {
  const cluster = finish(readCluster(snapshot, NO_MEASUREMENTS, { now, isSelected: nodesOf(policy) }));
  const [place] = cluster.nodes.flatMap((node) =>
    node.entry.occupancy.pods.filter(({ pod }) => pod.uid === uid).map((placed) => [placed, node] as const),
  );
  const found = place && runningPod(cluster, place, moveRules(snapshot.namespaces, policy.fitElsewhere));
  return found?.kind === 'stays' ? found.because : undefined;
}
