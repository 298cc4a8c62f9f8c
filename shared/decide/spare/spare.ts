import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { BySpareKind } from '#shared/domain/spare/spare-resources.ts';
import type { SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import { cpuRule, type Lendable, type LendingRule, lendableOf, memoryRule, type SpareObservation } from './lendable.ts';
import { type Publishable, publish, type Published } from './publish.ts';
import { emptyHistory, type UsageHistory, withUsage } from './usage-history.ts';

/** What is kept about the spare room of a node. */
export interface SpareState {
  readonly memory: ResourceState;
  readonly cpu: ResourceState;
  readonly published: Published;
}

export interface ResourceState {
  readonly history: UsageHistory;
  /** What spare pods requested in the last minutes. */
  readonly taken: readonly { readonly at: Instant; readonly requested: number }[];
}

export interface SpareDecision {
  readonly state: SpareState;
  readonly lendable: BySpareKind<Lendable>;
}

/** Nothing is lent after a start until a rise is due: what is expected within the next minutes is not known yet. */
export function emptySpareState(now: Instant): SpareState {
  const empty = { history: emptyHistory(now), taken: [] };
  return { memory: empty, cpu: empty, published: { memory: 0, cpu: 0, at: now } };
}

/** After one more observation: what can be lent, and what is to be published. */
export function decideSpare(
  state: SpareState,
  seen: BySpareKind<SpareObservation>,
  settings: SpareSettings,
  now: Instant,
): SpareDecision {
  const memory = advance(state.memory, seen.memory, memoryRule(settings), now);
  const cpu = advance(state.cpu, seen.cpu, cpuRule(settings), now);
  const lendable = { memory: memory.lendable, cpu: cpu.lendable };
  const published = publish(state.published, {
    memory: publishableOf(seen.memory, memory.lendable),
    cpu: publishableOf(seen.cpu, cpu.lendable),
    at: now,
  });
  return { state: { memory: memory.state, cpu: cpu.state, published }, lendable };
}

function publishableOf({ spare, allocatable }: SpareObservation, { lendable }: Lendable): Publishable {
  return { lendable, taken: spare.requested, allocatable };
}

/** What a pod uses is known once it has run for so long. */
const SETTLING_MS = 2 * MINUTE_MS;

function advance(
  state: ResourceState,
  seen: SpareObservation,
  rule: LendingRule,
  now: Instant,
): { readonly state: ResourceState; readonly lendable: Lendable } {
  const history = withUsage(state.history, seen.used / seen.capacity, now, rule);
  const { requested } = seen.spare;
  const taken = [...state.taken.filter(({ at }) => at >= now - SETTLING_MS), { at: now, requested }];
  const settling = requested - Math.min(...taken.map((each) => each.requested));
  return { state: { history, taken }, lendable: lendableOf(history, { ...seen, settling }, rule, now) };
}
