import type { Deployment } from './wire-workloads.ts';

/** What a rollout depends on: pods wanted, and those of the new and the old templates. */
export interface RolloutFacts {
  readonly wanted: number;
  /** More pods than wanted while both run. */
  readonly surge: number;
  /** Fewer available pods than wanted. */
  readonly unavailable: number;
  readonly isRecreate: boolean;
  readonly current: Size;
  readonly old: readonly Size[];
}

export interface Size {
  readonly replicas: number;
  readonly available: number;
}

/** Sizes to have now, of the new set and of the old ones in their order (`pkg/controller/deployment/rolling.go`). */
export function nextSizes(facts: RolloutFacts): { readonly current: number; readonly old: readonly number[] } {
  if (facts.isRecreate) return recreate(facts);
  const oldTotal = sum(facts.old.map(({ replicas }) => replicas));
  const room = facts.wanted + facts.surge - oldTotal;
  const current = Math.max(facts.current.replicas, Math.min(facts.wanted, room));
  const available = sum([facts.current, ...facts.old].map((each) => Math.min(each.available, each.replicas)));
  return {
    current: Math.min(current, facts.wanted),
    old: shrink(facts, available - (facts.wanted - facts.unavailable)),
  };
}

function recreate({ wanted, old }: RolloutFacts) {
  const isClear = old.every(({ replicas, available }) => replicas === 0 && available === 0);
  return { current: isClear ? wanted : 0, old: old.map(() => 0) };
}

/** Pods that are not available go first, because they cost nothing; then as many as may be spared. */
function shrink({ old }: RolloutFacts, spare: number): readonly number[] {
  let left = Math.max(0, spare);
  return old.map(({ replicas, available }) => {
    const useful = Math.min(replicas, available);
    const removed = Math.min(useful, left);
    left -= removed;
    return useful - removed;
  });
}

/** The bounds of a rolling update; if both come to 0 one pod may be missing, or nothing would ever move. */
export function rolloutBounds(deployment: Deployment): Pick<RolloutFacts, 'surge' | 'unavailable' | 'isRecreate'> {
  const { strategy, replicas = 1 } = deployment.spec;
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, replicas, Math.ceil);
  const unavailable = scaled(maxUnavailable, replicas, Math.floor);
  const isStuck = surge === 0 && unavailable === 0;
  return { surge, unavailable: isStuck ? 1 : unavailable, isRecreate: strategy?.type === 'Recreate' };
}

/** A number, or a percentage of `total` rounded by `round`. */
export function scaled(value: number | string, total: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  return value.endsWith('%') ? round((Number(value.slice(0, -1)) * total) / 100) : Number(value);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
