import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { decodeBudget, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { NAMESPACES, NODES, PDBS, PODS, type Resource } from '#shared/kube/resource.ts';
import { runRounds } from '#sandbox/run-rounds.ts';
import { askExtender } from './ask-extender.ts';
import { carryOut, SCHEDULER_NAME } from './carry-out.ts';
import { planRound, type Placement, type ReviewCandidates } from './plan-round.ts';

export interface SchedulerOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  /** The extender to call for preemptions; `undefined` while there is none. */
  readonly extenderUrl?: () => string | undefined;
}

/** A pod with the data that only the scheduler's queue needs. */
interface QueuedPod {
  readonly pod: Pod;
  readonly isOurs: boolean;
  /** As read from the API server; extenders get the complete pending pod. */
  readonly raw: KubeObject;
}

const GATHER_MS = 10;
const MAX_PAUSE_MS = 5_000;
/** As `httpTimeout` of the configuration in deploy/components/scheduler-second. */
const EXTENDER_TIMEOUT_MS = 2_000;

/** Binds waiting pods until the signal aborts; one round at a time. Never rejects. */
export async function runScheduler(options: SchedulerOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, log, extenderUrl = () => undefined } = options;
  const events = createEventRecorder({ client, component: SCHEDULER_NAME, instance: 'sandbox', clock, log });
  const reflect = <T>(resource: Resource, slim: (raw: KubeObject) => T | undefined): Reflector<T> =>
    createReflector({ client, clock, log, resource, slim, random: Math.random });
  const pods = reflect(PODS, queuedPod);
  const nodes = reflect(NODES, decoded<Node>(decodeNode));
  const budgets = reflect(PDBS, decoded<DisruptionBudget>(decodeBudget));
  const namespaces = reflect(NAMESPACES, decoded<Namespace>(decodeNamespace));
  /** Bound by this scheduler but not yet observed as bound, by UID. */
  const assumed = new Map<string, string>();
  const reported = new Map<string, string>();

  async function round(): Promise<void> {
    const present = [...pods.values()].map(({ pod, isOurs }) => ({ pod: withAssumed(pod, assumed), isOurs }));
    const waiting = present.filter(({ pod, isOurs }) => isOurs && isWaiting(pod)).map(({ pod }) => pod);
    forgetAllBut(reported, waiting);
    if (waiting.length === 0) return;
    const placed = present.map(({ pod }) => pod).filter((pod) => !hasEnded(pod));
    const cluster = {
      pods: placed,
      nodes: [...nodes.values()],
      budgets: [...budgets.values()],
      namespaces: [...namespaces.values()],
    };
    for await (const placement of planRound(cluster, waiting, review)) await execute(placement);
  }

  const review: ReviewCandidates = async (pod, candidates, find) => {
    const raw = pods.get(`${pod.namespace}/${pod.name}`)?.raw;
    if (raw?.metadata.uid !== pod.uid) return [];
    return askExtender({ url: extenderUrl, timeoutMs: EXTENDER_TIMEOUT_MS, log }, { pod: raw, candidates, find });
  };

  async function execute(placement: Placement): Promise<void> {
    const { uid } = placement.pod;
    const news = placement.kind === 'wait' ? placement.message : placement.kind;
    if (placement.kind === 'wait' && reported.get(uid) === news) return;
    if (!(await carryOut({ client, events, clock, log }, placement))) return;
    reported.set(uid, news);
    if (placement.kind === 'bind') assumed.set(uid, placement.node);
  }

  const reflectors = [pods, nodes, budgets, namespaces];
  await runRounds({ reflectors, round, gatherMs: GATHER_MS, longestPauseMs: MAX_PAUSE_MS, clock, log }, signal);
}

function queuedPod(raw: KubeObject): QueuedPod | undefined {
  const pod = decoded<Pod>(decodePod)(raw);
  if (pod === undefined) return undefined;
  const spec = raw['spec'] as { readonly schedulerName?: string; readonly schedulingGates?: readonly unknown[] };
  const isGated = (spec.schedulingGates ?? []).length > 0;
  return { pod, isOurs: (spec.schedulerName ?? SCHEDULER_NAME) === SCHEDULER_NAME && !isGated, raw };
}

/** Unreadable objects are left out; the API server has validated them, so at most a newer field is unknown. */
function decoded<T>(decode: (raw: unknown) => Decoded<T>): (raw: KubeObject) => T | undefined {
  return (raw) => {
    const result = decode(raw);
    return result.ok ? result.value : undefined;
  };
}

function withAssumed(pod: Pod, assumed: Map<string, string>): Pod {
  const nodeName = assumed.get(pod.uid);
  if (nodeName === undefined) return pod;
  if (pod.spec.nodeName !== undefined) assumed.delete(pod.uid);
  return { ...pod, spec: { ...pod.spec, nodeName } };
}

function isWaiting(pod: Pod): boolean {
  return pod.spec.nodeName === undefined && pod.deletion === undefined && !hasEnded(pod);
}

function hasEnded({ status }: Pod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

function forgetAllBut(reported: Map<string, string>, pods: readonly Pod[]): void {
  const uids = new Set(pods.map(({ uid }) => uid));
  for (const uid of reported.keys()) if (!uids.has(uid)) reported.delete(uid);
}
