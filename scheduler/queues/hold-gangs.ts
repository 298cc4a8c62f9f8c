import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { podReference } from '#shared/kube/events/event-recorder.ts';
import { type GangTimes, gangTimes } from '#shared/decide/queues/gang-times.ts';
import { type HalfGang, halfGangs } from '#shared/decide/queues/half-gangs.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { shortenedGrace } from '#shared/decide/queues/room-state.ts';
import type { QueuedPod } from '#shared/decide/queues/queued-pod.ts';
import { BACK_MS } from './gang-pauses.ts';
import { MAX_OPEN } from './open-requests.ts';
import { type EvictionPorts, QueueEvictions } from './queue-evictions.ts';
import type { StartGangs } from './start-gangs.ts';

export interface HoldGangsPorts extends Omit<EvictionPorts, 'isEnforcing' | 'unseenMs' | 'refusedMs' | 'pods'> {
  readonly pods: Pick<QueuedPods, 'lost' | 'graceSecondsOf'>;
  readonly snapshot: ClusterSnapshot;
  readonly starts: Pick<StartGangs, 'pause' | 'plannedFor' | 'whyNotNow'>;
  /** How long a gang may hold room with too few pods on nodes, as the queue root says now. */
  readonly timeoutMs: () => number;
}

/** No other pod goes in place of one that goes back, so its eviction is soon requested again. */
const UNSEEN_MS = 5_000;
const REFUSED_MS = 10_000;

/**
 * Sends gangs back whole that hold room with too few pods: their owners create the pods again, which wait behind their
 * gates. It asks for evictions as for any pod, so budgets and limits hold.
 */
export class HoldGangs {
  readonly #ports: HoldGangsPorts;
  readonly #evictions: QueueEvictions;
  #times: GangTimes = new Map();
  /** What was told of a gang last. */
  readonly #told = new Map<string, string>();
  /** Gangs whose pods are being evicted. */
  readonly #going = new Map<string, Promise<void>>();

  constructor(ports: HoldGangsPorts) {
    this.#ports = ports;
    this.#evictions = new QueueEvictions({
      ...ports,
      isEnforcing: () => true,
      unseenMs: UNSEEN_MS,
      refusedMs: REFUSED_MS,
    });
  }

  /** Resolves when no request to the API server is open. */
  async settled(): Promise<void> {
    await Promise.all(this.#going.values());
  }

  /** Whether a gang has been half of one for longer than it may. */
  isHalf(gang: string): boolean {
    return this.#told.has(gang);
  }

  /** Evictions continue after the round, so that a large gang or a slow API server holds up no other decision. */
  round({ gangs }: Pick<QueuePlan, 'gangs'>): void {
    const { snapshot, clock, timeoutMs, starts } = this.#ports;
    const now = clock.now();
    this.#times = gangTimes(gangs, this.#times, now);
    if (this.#times.size === 0 && this.#told.size === 0) return;
    const halves = halfGangs(gangs, {
      ...{ snapshot, now, timeoutMs: timeoutMs(), times: this.#times },
      plannedFor: (uid) => starts.plannedFor(uid),
      graceSecondsOf: (uid) => this.#graceSecondsOf(uid),
    });
    const names = new Set(halves.map(({ gang }) => gang));
    for (const gang of this.#told.keys()) if (!names.has(gang)) this.#told.delete(gang);
    for (const half of halves) {
      this.#tell(half);
      const due = this.#going.size < MAX_OPEN ? this.#dueOf(half) : [];
      if (due.length > 0) this.#begin(half, due);
    }
  }

  /** The pods whose eviction is to be requested now. */
  #dueOf({ gang, members, keptBy }: HalfGang): readonly QueuedPod[] {
    if (keptBy !== undefined || this.#going.has(gang)) return [];
    if (members.some(({ uid }) => this.#evictions.isRefused(uid))) return [];
    return members.filter(({ uid }) => !this.#evictions.isLeaving(uid));
  }

  #begin(half: HalfGang, due: readonly QueuedPod[]): void {
    const { gang } = half;
    const going = this.#giveBack(half, due)
      .catch((error: unknown) => this.#ports.log.error({ gang, error }, 'Gang not sent back'))
      .finally(() => this.#going.delete(gang));
    this.#going.set(gang, going);
  }

  /** The pods go one after the other, and none after one that stays. */
  async #giveBack({ gang, queue, because }: HalfGang, due: readonly QueuedPod[]): Promise<void> {
    const victims = due.map((pod) => ({ ...asVictim(pod, queue), ...this.#graceOf(pod) }));
    this.#evictions.announce(victims);
    const nodeOf = ({ uid }: RunningPod): string => this.#ports.snapshot.placedPods.get(uid)?.pod.spec.nodeName ?? '';
    const order = { queue, because, textFor: () => because.text, nodeOf };
    if (!(await this.#evictions.evictAll(victims, order))) return;
    const { starts } = this.#ports;
    // Evictions that are asked for again belong to the same return, which makes its pause no longer.
    if (starts.whyNotNow(gang)?.code !== because.code) starts.pause(gang, because, BACK_MS);
  }

  #graceSecondsOf(uid: string): number {
    const pod = this.#ports.snapshot.placedPods.get(uid)?.pod;
    return pod === undefined ? 0 : this.#ports.pods.graceSecondsOf(pod);
  }

  /** As in reclaim: what a pod says of its end would keep the room of a half gang for ever. */
  #graceOf({ uid, unplaced }: QueuedPod): Pick<RunningPod, 'graceSeconds'> {
    const pod = this.#ports.snapshot.placedPods.get(uid)?.pod ?? unplaced;
    return pod === undefined ? {} : shortenedGrace(pod, this.#ports.pods);
  }

  #tell({ gang, members, because, keptBy = because }: HalfGang): void {
    if (this.#told.get(gang) === keptBy.code) return;
    this.#told.set(gang, keptBy.code);
    this.#ports.log.info({ gang, because: keptBy }, 'Gang runs in part');
    for (const { uid, namespace, name } of members) {
      const regarding = podReference({ namespace, name, uid });
      const reason = EVENT_REASONS.gangGoesBack;
      this.#ports.events.record({ regarding, type: 'Warning', reason, note: keptBy.text, action: 'Evicting' });
    }
  }
}

function asVictim(pod: QueuedPod, queue: string): RunningPod {
  return {
    ...pod.asWaiting(queue),
    mayBePreempted: true,
    startedAt: undefined,
    hasController: pod.owner !== undefined,
    ownerDisruptedAt: undefined,
    budgets: [],
  };
}
