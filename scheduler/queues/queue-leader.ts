import { hostname } from 'node:os';
import { declaredCapacity, declaredGangTimeout, declaredReclaim, queueDirectory } from '#shared/api/queue.ts';
import { QUEUE_LEADER, REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart, TermWork } from '#shared/kube/lease/run-controller.ts';
import { type Reflector, createReflector } from '#shared/kube/reflector/reflector.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { ClusterView } from '#scheduler/cluster-view.ts';
import { clearMarks } from './clear-marks.ts';
import { createChildQueues } from './child-queues.ts';
import { createSelectorKeeper, readFormerBelief } from './keep-selectors.ts';
import { letPodsIn, type Refusal, refusalOf } from './let-pods-in.ts';
import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import { NO_QUEUE_AMOUNTS } from '#shared/domain/queue/queue.ts';
import { claimedDaemonSet, type Owner, type Pod } from '#shared/domain/pod/pod.ts';
import { BelievedNodes } from '#shared/decide/queues/believed-nodes.ts';
import { planPass, type QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuePassInput } from '#shared/decide/queues/sort-pods.ts';
import { createQueueMetrics, type QueueMetrics, showOldestWaiting, showWaiting } from './queue-metrics.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { UnplacedPods } from '#shared/decide/queues/unplaced-pods.ts';
import type { ReclaimPorts } from './reclaim.ts';
import { PodGroups } from './pod-groups.ts';
import { createRoomParts } from './room-parts.ts';
import type { HoldGangs } from './hold-gangs.ts';
import type { StartGangs } from './start-gangs.ts';
import { createStatusWriter } from './status-writer.ts';
import { evictedFor, type StoredQueue } from './stored-queue.ts';
import { createWaitConditions } from './wait-conditions.ts';
import { createWaitEvents } from './wait-events.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { ListWatchOptions } from '#shared/kube/reflector/list-watch.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { LEASES } from '#shared/kube/resource.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';

export interface QueueLeaderOptions extends ClientContext {
  readonly ownerDisruptedAt: NonNullable<ReclaimPorts['ownerDisruptedAt']>;
  readonly pods: QueuedPods;
  readonly view: Pick<ClusterView, 'snapshot' | 'classes' | 'missing' | 'isStale'>;
  /** With their status. */
  readonly queues: FollowedQueues;
}

type FollowedQueues = Pick<Reflector<StoredQueue>, 'values' | 'synced' | 'isSynced' | 'onChange'>;

/** A pass follows each change, at most this often, and one runs at least every ten seconds. */
const PASS_PERIOD_MS = 100;
const QUIET_PERIOD_MS = 10_000;
const REPORT_PERIOD_MS = 1_000;
const RECLAIM_PERIOD_MS = 500;
const DEADLINE_MS = 60_000;

/** Lets waiting pods in on the replica that leads. The other replicas only follow the pods. */
export function queueLeader(options: QueueLeaderOptions): ControllerPart {
  const queueMetrics = createQueueMetrics(options.metrics);
  const begin = (term: LeaseTerm, signal: AbortSignal): TermWork =>
    leadOneTerm({ ...options, term, queueMetrics }, signal);
  return { name: 'queues', lease: QUEUE_LEADER, leader: queueMetrics.leader, begin };
}

interface LeadingQueues extends QueueLeaderOptions {
  readonly term: LeaseTerm;
  readonly queueMetrics: QueueMetrics;
}

function leadOneTerm(leading: LeadingQueues, signal: AbortSignal): TermWork {
  const queues = listenedUntil(leading.queues, signal);
  const passes = createPasses(leading, queues, signal);
  const follow = (until: AbortSignal): Promise<void> => followKubeScheduler(leading, passes.onTakeover, until);
  const rounds = (pass: string) => ({
    deadlineMs: DEADLINE_MS,
    ...reportRounds(leading.log, 'Queue pass failed', pass),
  });
  return {
    sources: [{ synced: queues.synced }, { run: follow }],
    passes: [
      { ...rounds('letIn'), task: passes.letIn, periodMs: PASS_PERIOD_MS },
      { ...rounds('report'), task: passes.report, periodMs: REPORT_PERIOD_MS },
      { ...rounds('reclaim'), task: passes.reclaim, periodMs: RECLAIM_PERIOD_MS },
    ],
    end: passes.settled,
  };
}

/** The same queues, whose callbacks stop at the end of the term. */
function listenedUntil({ values, synced, isSynced, onChange }: FollowedQueues, ended: AbortSignal): FollowedQueues {
  const listen: FollowedQueues['onChange'] = (listener) => {
    const stop = onChange(listener);
    ended.addEventListener('abort', stop, { once: true });
    return stop;
  };
  return { values, synced, isSynced, onChange: listen };
}

/** The leader's loops. The first decides and lets pods in; the others use its last decision. */
function createPasses(leading: LeadingQueues, queues: FollowedQueues, signal: AbortSignal) {
  const { clock, log, client, pods, term, queueMetrics: metrics } = leading;
  const events = createEventRecorder({ ...leading, component: REPORTING_CONTROLLERS.scheduler, instance: hostname() });
  const classOf = (name: string) => leading.view.classes.get(name);
  const letInPorts = { client, clock, log, pods, metrics, term, classOf, refused: new Map<string, Refusal>() };
  const settings = createSettings(queues);
  const evictedBefore = (queue: string) => evictedFor(queues.values(), queue);
  const { starts, holds, reclaim, ...room } = createRoomParts(
    { ...leading, evictedBefore, events, metrics, declared: settings, letInPorts, snapshot: leading.view.snapshot },
    signal,
  );
  const groups = new PodGroups({ client, clock });
  const isDue = createDueCheck(leading, queues, [starts, groups]);
  const statusPorts = { client, clock, log, metrics, term, reclaim };
  const writeStatus = createStatusWriter({ ...statusPorts, queues: () => queues.values() });
  let believed: BelievedNodes | undefined;
  const largestNode = () => believed?.largest() ?? NO_QUEUE_AMOUNTS;
  const keepSelectors = createSelectorKeeper({ client, clock, log, term, queues: () => queues.values(), largestNode });
  const keepChildren = createChildQueues({ client, clock, log, metrics, term, queues: () => queues.values() });
  const whyNoRoom = (uid: string) => reclaim.whyWaiting(uid);
  const tellWaiting = createWaitEvents(
    events,
    whyNoRoom,
    (uid) => daemonSetOf(pods.get(uid)?.unplaced),
    term.formerUntil,
  );
  const writeConditions = createWaitConditions({ client, clock, log, pods, term }, whyNoRoom);
  const promises = new UnplacedPods();
  const isRoomMade = (uid: string) => reclaim.isMakingRoomFor(uid);
  const whys = whysOf(letInPorts, { starts, holds, groups });
  const noteDoubts = createDoubtLog(log);
  let last: QueuePlan | undefined;
  return {
    letIn: async (passing: AbortSignal): Promise<void> => {
      believed ??= new BelievedNodes(await readFormerBelief({ client, term }, passing));
      if (!isDue()) return;
      last = await decide(leading, { ...settings(), ...whys, promises, isRoomMade, believed }, passing);
      noteDoubts(last);
      pods.settleClaims(last.claims);
      await starts.round(last, passing);
      await letPodsIn(last, letInPorts, passing);
    },
    report: async (passing: AbortSignal): Promise<void> => {
      if (last === undefined) return;
      showOldestWaiting(leading.queueMetrics, last);
      await groups.read(passing);
      await keepSelectors(passing);
      await keepChildren(last, passing);
      await writeStatus(last, passing);
      await clearMarks({ client, clock, log, pods, term }, passing);
      await inChunks(tellWaiting(last, clock.now()), clock, passing);
      await writeConditions(last, passing);
    },
    reclaim: async (passing: AbortSignal): Promise<void> => {
      if (last !== undefined && isCurrent(leading)) await room.round(last, passing);
    },
    onTakeover: room.onTakeover,
    settled: room.settled,
  };
}

interface GangParts {
  readonly starts: Pick<StartGangs, 'whyNotNow'>;
  readonly holds: Pick<HoldGangs, 'isHalf'>;
  readonly groups: Pick<PodGroups, 'minOf'>;
}

function whysOf(letInPorts: Parameters<typeof refusalOf>[1], { starts, holds, groups }: GangParts) {
  return {
    whyRefused: (uid: string) => refusalOf(uid, letInPorts),
    whyGangWaits: (gang: string) => starts.whyNotNow(gang),
    isHalf: (gang: string) => holds.isHalf(gang),
    minOfGroup: groups.minOf,
  };
}

function daemonSetOf(pod: Pod | undefined): Owner | undefined {
  return pod && claimedDaemonSet(pod);
}

/** Logs each change of what nodes report and is not believed. */
function createDoubtLog(log: ClientContext['log']): (plan: Pick<QueuePlan, 'doubts'>) => void {
  let logged = '';
  return ({ doubts }) => {
    const text = doubts.map((each) => each.text).join('; ');
    if (text !== logged && text !== '') log.warn({ doubts: text }, 'Report of a node not believed yet');
    logged = text;
  };
}

interface QueueSettings extends Pick<QueuePassInput, 'directory' | 'capacity'> {
  readonly reclaim: ReclaimSettings;
  readonly gangTimeoutMs: number;
}

/** Rebuilt only after a Queue changes. */
function createSettings(queues: FollowedQueues): () => QueueSettings {
  const read = (): QueueSettings => {
    const objects = Array.from(queues.values(), ({ object }) => object);
    return {
      directory: queueDirectory(objects),
      capacity: declaredCapacity(objects),
      reclaim: declaredReclaim(objects),
      gangTimeoutMs: declaredGangTimeout(objects),
    };
  };
  let settings: QueueSettings | undefined;
  queues.onChange(() => void (settings = undefined));
  return () => (settings ??= read());
}

async function decide(
  { pods, view, clock, queueMetrics }: LeadingQueues,
  {
    reclaim,
    ...settings
  }: QueueSettings & Pick<QueuePassInput, 'promises' | 'isRoomMade' | 'believed' | keyof ReturnType<typeof whysOf>>,
  signal: AbortSignal,
) {
  const startedAt = clock.monotonic();
  const input = {
    pods,
    snapshot: view.snapshot,
    now: clock.now(),
    isReclaiming: reclaim.mode === 'Enforce',
    reclaimBy: reclaim.by,
    replacements: reclaim.replacements,
    ...settings,
  };
  const plan = await inChunks(planPass(input), clock, signal);
  queueMetrics.passes.observe((clock.monotonic() - startedAt) / 1_000);
  showWaiting(queueMetrics, plan);
  return plan;
}

/** Nothing is decided until the cluster has been read, or while the API server is silent about it. */
function isCurrent({ view }: Pick<LeadingQueues, 'view'>): boolean {
  return view.missing().length === 0 && !view.isStale();
}

/** Whether anything has changed since the last pass, or that pass is too old. */
function createDueCheck(
  { pods, view, clock }: LeadingQueues,
  queues: FollowedQueues,
  others: readonly { readonly changes: number }[],
): () => boolean {
  let seenChanges = -1;
  let hasOther = true;
  let lastMs = -Infinity;
  queues.onChange(() => void (hasOther = true));
  return () => {
    if (!isCurrent({ view }) || !queues.isSynced()) return false;
    const changes = others.reduce((sum, each) => sum + each.changes, pods.changes);
    const isDue = hasOther || changes !== seenChanges || clock.monotonic() - lastMs >= QUIET_PERIOD_MS;
    if (isDue) [seenChanges, hasOther, lastMs] = [changes, false, clock.monotonic()];
    return isDue;
  };
}

/** Where the replicas of kube-scheduler elect their leader. */
const LEASE = { namespace: 'kube-system', name: 'kube-scheduler' } as const;

/**
 * Calls back with the identity of each other kube-scheduler that takes over, until `signal` aborts. A new
 * kube-scheduler does not know the nominations of pods that have not changed since it started. Never rejects; never
 * calls back if the Lease cannot be read.
 */
export async function followKubeScheduler(
  options: Omit<ListWatchOptions, 'resource'>,
  onTakeover: (holder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let known: string | undefined;
  const leases = createReflector({
    ...options,
    resource: LEASES,
    namespace: LEASE.namespace,
    fieldSelector: `metadata.name=${LEASE.name}`,
    slim: (raw) => fieldOf(raw['spec'], 'holderIdentity'),
    backoff: REFLECTOR_BACKOFF,
  });
  leases.onChange(() => {
    const holder = leases.get(`${LEASE.namespace}/${LEASE.name}`);
    // A scheduler that stops releases the Lease before the next one takes it.
    if (typeof holder !== 'string' || holder === '' || holder === known) return;
    const isTakeover = known !== undefined;
    known = holder;
    if (isTakeover) onTakeover(holder);
  });
  await leases.run(signal);
}
