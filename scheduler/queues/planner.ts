import { declaredCapacity, declaredGangTimeout, declaredReclaim, queueDirectory } from '#shared/api/queue.ts';
import { BelievedNodes } from '#shared/decide/queues/believed-nodes.ts';
import { planPass, type QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import type { QueuePassInput } from '#shared/decide/queues/sort-pods.ts';
import { UnplacedPods } from '#shared/decide/queues/unplaced-pods.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { ClusterView } from '#scheduler/cluster-view.ts';
import { readFormerBelief } from './keep-selectors.ts';
import { type QueueMetrics, showWaiting } from './queue-metrics.ts';
import type { StoredQueue } from './stored-queue.ts';

export type FollowedQueues = Pick<Reflector<StoredQueue>, 'values' | 'synced' | 'isSynced' | 'onChange'>;

interface PlannerPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly term: LeaseTerm;
  readonly pods: QueuedPods;
  readonly view: Pick<ClusterView, 'snapshot' | 'missing' | 'isStale'>;
  readonly queues: FollowedQueues;
  readonly metrics: QueueMetrics;
}

/** What a plan asks the parts that carry out the ones before. */
export type Asked = Pick<QueuePassInput, 'whyRefused' | 'whyGangWaits' | 'isHalf' | 'minOfGroup' | 'isRoomMade'>;

/** Counts its changes, each of which calls for a plan. */
interface Changing {
  readonly changes: number;
}

/** A plan is made at least this often. */
const QUIET_PERIOD_MS = 10_000;

/** Plans what the leader does, and keeps what one plan needs of the ones before. */
export function createPlanner(ports: PlannerPorts) {
  const settings = createSettings(ports.queues);
  const isDue = createDueCheck(ports);
  const promises = new UnplacedPods();
  const noteDoubts = createDoubtLog(ports.log);
  let believed: BelievedNodes | undefined;
  return {
    settings,
    /** The most of each type that is believed of one node. */
    largestNode: (): QueueAmounts => believed?.largest() ?? NO_QUEUE_AMOUNTS,
    /** The next plan; undefined while nothing has changed, or the cluster is not known. */
    plan: async (asked: Asked, others: readonly Changing[], signal: AbortSignal): Promise<QueuePlan | undefined> => {
      believed ??= new BelievedNodes(await readFormerBelief(ports, signal));
      if (!isDue(others)) return undefined;
      const plan = await decide(ports, { ...settings(), ...asked, promises, believed }, signal);
      noteDoubts(plan);
      return plan;
    },
  };
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

type Decided = QueueSettings & Asked & Pick<QueuePassInput, 'promises' | 'believed'>;

async function decide(
  { pods, view, clock, metrics }: PlannerPorts,
  { reclaim, ...settings }: Decided,
  signal: AbortSignal,
): Promise<QueuePlan> {
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
  metrics.passes.observe((clock.monotonic() - startedAt) / 1_000);
  showWaiting(metrics, plan);
  return plan;
}

/** Nothing is decided until the cluster has been read, or while the API server is silent about it. */
export function isCurrent(view: Pick<ClusterView, 'missing' | 'isStale'>): boolean {
  return view.missing().length === 0 && !view.isStale();
}

/** Whether anything has changed since the last pass, or that pass is too old. */
function createDueCheck({ pods, view, clock, queues }: PlannerPorts): (others: readonly Changing[]) => boolean {
  let seenChanges = -1;
  let hasOther = true;
  let lastMs = -Infinity;
  queues.onChange(() => void (hasOther = true));
  return (others) => {
    if (!isCurrent(view) || !queues.isSynced()) return false;
    const changes = others.reduce((sum, each) => sum + each.changes, pods.changes);
    const isDue = hasOther || changes !== seenChanges || clock.monotonic() - lastMs >= QUIET_PERIOD_MS;
    if (isDue) [seenChanges, hasOther, lastMs] = [changes, false, clock.monotonic()];
    return isDue;
  };
}
