import { decodeNodePressure, encodeAvoid } from '#shared/api/node-pressure.ts';
import { type AvoidEntry, lastingEntries, MAX_ENTRIES } from '#shared/domain/nodes/avoid-nodes.ts';
import { isSameOwner, type Instant } from '#shared/domain/pod/pod.ts';
import { whyOutdated } from '#shared/domain/rescheduling/outdated-move.ts';
import type { KeepAway, Move } from '#shared/domain/rescheduling/pass.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { ANNOTATION_EVICTION_DECISION, ANNOTATION_EVICTION_REASON, COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject, patchObject } from '#shared/kube/client/objects.ts';
import { type EvictionOutcome, evictPod, decisionIdOf } from '#shared/kube/events/evict-pod.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { type FaultLog } from '#shared/runtime/fault-log.ts';
import { avoidCause } from './messages.ts';

/** What is needed to write an avoid entry. */
export interface AvoidPorts {
  readonly client: KubeClient;
  readonly now: () => Instant;
  readonly policy: string;
  readonly avoidFaults: FaultLog;
}

/** What is needed to carry out a move. */
export interface MovePorts extends AvoidPorts {
  readonly snapshot: ClusterSnapshot;
}

/** The outcome of a move. */
export type MoveOutcome = { readonly kind: 'outdated'; readonly message: string } | EvictionOutcome;

/**
 * Carries out one move. The avoid entry comes first, because the replacement is created as soon as the pod terminates.
 * The eviction names the UID of the planned pod. The API server enforces PodDisruptionBudgets.
 */
export async function carryOutMove(move: Move, ports: MovePorts, signal: AbortSignal): Promise<MoveOutcome> {
  const outdated = whyOutdated(move, ports.snapshot);
  if (outdated !== undefined) return { kind: 'outdated', message: outdated };
  if (move.avoidForMs > 0) await keepAway(sourceOf(move), ports, signal);
  const { namespace, name, uid } = move.pod.placed.pod;
  const annotations = {
    [ANNOTATION_EVICTION_REASON]: move.because.code,
    [ANNOTATION_EVICTION_DECISION]: moveId(move),
  };
  return evictPod(ports.client, { namespace, name, uid, annotations, signal });
}

/** Identifies a move by its inputs. */
export function moveId({ pod, policy, from, expectedOn, because }: Move): string {
  return decisionIdOf(pod.placed.pod.uid, policy, from, expectedOn, because.code);
}

const OPTIONS = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

function sourceOf({ pod, from, avoidForMs, because }: Move): KeepAway {
  return { owner: pod.owner.key, node: from, forMs: avoidForMs, because };
}

/** Adds an entry to the avoid list of a node, conditionally: after a conflict the move continues without the entry. */
export async function keepAway(entry: KeepAway, ports: AvoidPorts, signal: AbortSignal): Promise<void> {
  const { node } = entry;
  const address = { resource: NODE_PRESSURES, name: node };
  const read = await getObject(ports.client, address, { signal, timeoutMs: OPTIONS.timeoutMs });
  if (read.kind === 'notFound') return;
  if (read.kind !== 'ok') {
    ports.avoidFaults.answered(node, read);
    return;
  }
  const pressure = decodeNodePressure(read.object);
  const avoid = withEntry(lastingEntries(pressure, ports.now()), entryOf(entry, ports));
  const patch = { metadata: { resourceVersion: pressure.resourceVersion }, spec: { avoid: encodeAvoid(avoid) } };
  const written = await patchObject(ports.client, address, patch, { ...OPTIONS, type: 'merge', signal });
  ports.avoidFaults.answered(node, written);
}

function entryOf({ owner, forMs, because }: KeepAway, { now, policy }: AvoidPorts): AvoidEntry {
  return { owner, until: now() + forMs, cause: avoidCause(policy, because.text), hard: false };
}

/** An entry that lasts longer, for example one after an eviction, is kept. */
function withEntry(present: readonly AvoidEntry[], entry: AvoidEntry): readonly AvoidEntry[] {
  const same = present.find(({ owner }) => isSameOwner(owner, entry.owner));
  if (same !== undefined && (same.hard || same.until >= entry.until)) return present;
  return [...present.filter((each) => each !== same), entry].slice(-MAX_ENTRIES);
}
