import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, type NodePod } from '#test/agent/node-scene.ts';

/** A pod of a simulated node: what it uses follows from how long it has run. */
export interface GrowingPod extends NodePod {
  /** MiB a second; nothing is taken beyond `mostMiB`. */
  readonly growsMiB?: number;
  readonly mostMiB?: number;
  /** Whether its controller makes it again as soon as it is gone. */
  readonly comesBack?: boolean;
}

export interface Simulation {
  readonly pods: readonly GrowingPod[];
  readonly policy: AgentPolicy;
  readonly untilMs: number;
  /** Memory that no pod has, in MiB, by time. */
  readonly outsideMiB?: (now: number) => number;
}

export interface SimulatedRun {
  /** `SECONDS NAME` for each eviction. */
  readonly evicted: readonly string[];
  readonly closedGates: ReadonlySet<string>;
  /** When nothing was left, if ever. */
  readonly exhaustedAtMs: number | undefined;
}

const CAPACITY_MIB = 1000;
const STEP_MS = 100;
/** From the request to the end of the processes, and from then until the object is gone. */
const ENDS_AFTER_MS = 1000;
const GONE_AFTER_MS = 1500;

interface Living {
  readonly pod: GrowingPod;
  readonly bornMs: number;
  readonly askedMs: number | undefined;
}

function usedMiB({ pod, bornMs, askedMs }: Living, now: number): number {
  if (askedMs !== undefined && now - askedMs >= ENDS_AFTER_MS) return 0;
  const grown = (pod.usageMiB ?? 0) + ((pod.growsMiB ?? 0) * (now - bornMs)) / 1000;
  return Math.min(grown, pod.mostMiB ?? Infinity);
}

function asNodePod(living: Living, now: number): NodePod {
  const { pod, askedMs } = living;
  const deletion = askedMs === undefined ? {} : { deletion: { at: 0, gracePeriodSeconds: 1 } };
  return { ...pod, uid: uidOf(living), usageMiB: Math.round(usedMiB(living, now)), ...deletion };
}

function uidOf({ pod, bornMs }: Living): string {
  return `${pod.name}-${bornMs}`;
}

function succession(living: Living, now: number): readonly Living[] {
  if (living.askedMs === undefined || now - living.askedMs < GONE_AFTER_MS) return [living];
  return living.pod.comesBack === true ? [{ pod: living.pod, bornMs: now, askedMs: undefined }] : [];
}

/** A node of 1000 MiB whose pods grow, end when they are evicted, and may come back; every eviction is accepted. */
export function simulate({ pods, policy, untilMs, outsideMiB = () => 0 }: Simulation): SimulatedRun {
  let state: AgentState = FIRST_STATE;
  let alive: readonly Living[] = pods.map((pod) => ({ pod, bornMs: 0, askedMs: undefined }));
  const evicted: string[] = [];
  const closedGates = new Set<string>();
  for (let now = 0; now <= untilMs; now += STEP_MS) {
    alive = alive.flatMap((each) => succession(each, now));
    const used = alive.reduce((sum, each) => sum + usedMiB(each, now), outsideMiB(now));
    if (used >= CAPACITY_MIB) return { evicted, closedGates, exhaustedAtMs: now };
    const availableMiB = Math.floor(CAPACITY_MIB - used);
    const decision = decide(
      state,
      snapshot({ now, availableMiB, pods: alive.map((each) => asNodePod(each, now)) }),
      policy,
    );
    state = decision.state;
    for (const { code } of decision.assessment.closedGates) closedGates.add(code);
    for (const { pod, mode } of decision.evictions) {
      state = applyOutcome(state, { uid: pod.uid, mode }, { kind: 'evicted' }, now);
      evicted.push(`${now / 1000} ${pod.name}`);
      alive = alive.map((each) => (uidOf(each) === pod.uid ? { ...each, askedMs: now } : each));
    }
  }
  return { evicted, closedGates, exhaustedAtMs: undefined };
}
