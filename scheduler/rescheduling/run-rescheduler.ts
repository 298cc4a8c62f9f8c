import { hostname } from 'node:os';
import { z } from 'zod';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { decodeReschedulingPolicy } from '#shared/api/rescheduling-policy.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { isInWindow } from '#shared/domain/rescheduling/policy.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart, TermWork } from '#shared/kube/lease/run-controller.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { RESCHEDULING_POLICIES } from '#shared/kube/resource.ts';
import type { ClusterView } from '#scheduler/cluster-view.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import { createReschedulingMetrics, showMemories } from './rescheduling-metrics.ts';
import { watchPodLimits } from '#scheduler/disruptions/known-limits.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { LOG } from './messages.ts';
import { makePass, type Remembered, type ReschedulingPorts, type StoredPolicy } from './rescheduling-pass.ts';

/** `rescheduling` of SchedulerConfiguration. */
export const reschedulingSchema = z
  .strictObject({
    passes: z
      .enum(['Off', 'On'])
      .default('Off')
      .describe(
        'On makes passes over the cluster by ReschedulingPolicies, on one replica; each policy is a dry run unless it says Enforce',
      ),
  })
  .prefault({});

export interface ReschedulerOptions extends SharedContext {
  readonly view: Pick<ClusterView, 'snapshot' | 'missing' | 'isStale'>;
  readonly gangs: ReschedulingPorts['gangs'];
}

const PERIOD_MS = 1_000;
const DEADLINE_MS = 120_000;
/** The pause after a pass that made all the moves allowed per minute. */
const BUSY_PERIOD_MS = 60_000;

/** Runs passes by the ReschedulingPolicies on the replica that leads. */
export function rescheduler(options: ReschedulerOptions): ControllerPart {
  const reschedulingMetrics = createReschedulingMetrics(options.metrics);
  const reporter = { component: REPORTING_CONTROLLERS.scheduler, instance: hostname() };
  const events = createEventRecorder({ ...options, ...reporter });
  // Limits are optional: where removals are not counted, these kinds do not exist, and nothing may wait for them.
  const limits = watchPodLimits(options);
  const policies = createReflector({ ...options, resource: RESCHEDULING_POLICIES, slim: readStored });
  const begin = (term: LeaseTerm): TermWork => {
    const rounds = reportRounds(options.log, LOG.passFailed);
    const ports = { ...options, snapshot: options.view.snapshot, limits, events, term, reschedulingMetrics };
    const task = createPasses(options, policies, ports);
    return {
      sources: [policies],
      passes: [{ task, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, ...rounds }],
      end: () => {
        showMemories(reschedulingMetrics, []);
      },
    };
  };
  return { name: 'rescheduling', lease: 'plimsoll-rescheduling', leader: reschedulingMetrics.leader, begin };
}

/** What is remembered about a policy between its passes. */
interface Course extends Remembered {
  readonly dueAt: number;
  readonly generation: number;
}

/**
 * Runs the passes that are due, one after the other. Nothing is decided unless the copy of the cluster is complete and
 * current.
 */
function createPasses(
  { view, clock }: ReschedulerOptions,
  policies: Pick<Reflector<StoredPolicy>, 'values'>,
  ports: ReschedulingPorts,
): (signal: AbortSignal) => Promise<void> {
  const courses = new Map<string, Course>();
  return async (signal) => {
    if (view.missing().length > 0 || view.isStale()) return;
    const stored = [...policies.values()];
    forgetOthers(courses, stored);
    for (const each of stored) {
      const { generation } = each;
      const { memory, evicted, dueAt } = courseOf(courses, each);
      if (signal.aborted || clock.monotonic() < dueAt || !isOpen(each, clock.now())) continue;
      // A failed pass is not repeated at once.
      courses.set(each.uid, { memory, evicted, generation, dueAt: clock.monotonic() + periodMs(each) });
      const made = await makePass(each, { memory, evicted }, ports, signal);
      const pause = made.isBusy ? Math.min(BUSY_PERIOD_MS, periodMs(each)) : periodMs(each);
      const remembered = { memory: made.memory, evicted: made.evicted };
      courses.set(each.uid, { ...remembered, generation, dueAt: clock.monotonic() + pause });
    }
    showMemories(
      ports.reschedulingMetrics,
      Array.from(courses.values(), ({ memory }) => memory),
    );
  };
}

/** A new or changed policy is due at once; the memory of its moves is kept. */
function courseOf(courses: ReadonlyMap<string, Course>, { uid, generation }: StoredPolicy): Course {
  const known = courses.get(uid) ?? { memory: NO_MEMORY, evicted: [], generation: -1, dueAt: -Infinity };
  return known.generation === generation ? known : { ...known, generation, dueAt: -Infinity };
}

function forgetOthers(courses: Map<string, Course>, stored: readonly StoredPolicy[]): void {
  const uids = new Set(stored.map(({ uid }) => uid));
  for (const uid of courses.keys()) if (!uids.has(uid)) courses.delete(uid);
}

function periodMs({ policy }: StoredPolicy): number {
  return policy.schedule.periodSeconds * 1_000;
}

const WEEK_MINUTES = 7 * 1_440;
/** 1970-01-01 was a Thursday. */
const FIRST_DAY_MINUTES = 4 * 1_440;

/** A dry run disturbs no pod, so it runs at any time. */
function isOpen({ policy }: StoredPolicy, now: number): boolean {
  if (policy.mode === 'DryRun') return true;
  const minute = (Math.floor(now / MINUTE_MS) + FIRST_DAY_MINUTES) % WEEK_MINUTES;
  return isInWindow(policy.schedule.windows, minute);
}

function readStored(raw: KubeObject): StoredPolicy {
  const policy = decodeWith(decodeReschedulingPolicy)(raw);
  return { policy, uid: raw.metadata.uid ?? policy.name, generation: raw.metadata.generation ?? 0 };
}
