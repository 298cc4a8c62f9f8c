import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Condition } from '#shared/kube/conditions.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { Caches } from '#webhook/cluster-state/caches.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { LeaderDuty } from '#webhook/leadership.ts';
import { readRules, type Rules } from '#webhook/cluster-state/read-rules.ts';
import { compareRules, type Comparison } from './compare-rules.ts';
import { missingPolicies } from './enforcing-policies.ts';
import { enforcementCondition, type RuleState } from './rule-conditions.ts';
import { writeRules } from './write-rules.ts';

export interface RuleReconcilerOptions {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, 'policies' | 'classes'>;
  readonly mode: WebhookConfiguration['mode'];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Keeps the rules that the API server enforces equal to the policies. */
export interface RuleReconciler {
  /** Compares the rules; every replica measures how long they have been outdated. */
  run(signal: AbortSignal): Promise<void>;
  /** Writes the rules; only the leader runs it. */
  readonly duty: LeaderDuty;
  /** The condition of a policy, if known. */
  conditionOf(policy: PriorityPolicy): Condition | undefined;
}

const COMPARE_EVERY_MS = 1_000;
const WRITE_EVERY_MS = 250;
/** A change of our objects by another client is noticed after this long. */
const VERIFY_EVERY_MS = 10_000;
const DEADLINE_MS = 10_000;
const READ_MS = 5_000;
const TELL_AFTER_MS = 5_000;
const BACKOFF = { initialMs: 250, maxMs: 10_000, factor: 2, jitter: 0.5 };

/** Compares nothing before `run` and writes nothing before its duty runs. */
export function createRuleReconciler(options: RuleReconcilerOptions): RuleReconciler {
  const { client, caches, mode, clock, log, metrics } = options;
  const age = metrics.gauge(
    'plimsoll_priority_rules_behind_seconds',
    'Seconds for which the API server has enforced rules other than those of the PriorityPolicies; 0 while they match',
  );
  const writes = metrics.counter('plimsoll_priority_rules_writes_total', 'Writes of PriorityRules', ['result']);
  let state: RuleState = { ...UNKNOWN, isDryRun: mode === 'DryRun' };
  let behindSince: number | undefined;
  const compareDue = dueAfter(caches, clock);
  const writeDue = dueAfter(caches, clock);

  function note({ compiled, isCurrent }: Comparison): void {
    state = { ...state, isCurrent, leftOut: compiled.leftOut, ...(isCurrent && { problem: undefined }) };
    behindSince = isCurrent ? undefined : (behindSince ?? clock.monotonic());
  }

  /** Every change makes the rules differ for a moment, which is not reported. */
  function isJustBehind(): boolean {
    return behindSince !== undefined && clock.monotonic() - behindSince < TELL_AFTER_MS;
  }

  async function compare(signal: AbortSignal): Promise<void> {
    if (compareDue.begin()) {
      const comparison = await compareRules(client, cached(caches), mode, signal);
      note(comparison);
      compareDue.again(comparison.isCurrent ? VERIFY_EVERY_MS : COMPARE_EVERY_MS);
    }
    age.set(behindSince === undefined ? 0 : (clock.monotonic() - behindSince) / 1_000);
  }

  async function write(signal: AbortSignal, term: LeaseTerm): Promise<void> {
    if (!writeDue.begin()) return;
    const seen = await compareRules(client, cached(caches), mode, signal);
    // Caches may lag, even behind what another leader has written, so writes are compiled from live objects.
    const live = seen.isCurrent ? seen : await compareRules(client, await readRules(client, READ_MS), mode, signal);
    note(live);
    await writeRules(client, live, {
      signal,
      term,
      now: clock.now(),
      written: () => writes.add({ result: 'written' }),
    });
    note({ ...live, isCurrent: true });
    state = { ...state, missing: await missingPolicies(client, signal) };
    writeDue.again(VERIFY_EVERY_MS);
  }

  const onCompareError = (error: unknown): void => {
    behindSince ??= clock.monotonic();
    compareDue.again(0);
    log.warn({ err: error }, 'Comparison of priority rules failed');
  };
  const onWriteError = (error: unknown, failuresInARow: number): void => {
    state = { ...state, isCurrent: false, problem: errorText(error) };
    behindSince ??= clock.monotonic();
    writes.add({ result: 'failed' });
    writeDue.again(0);
    log.warn({ err: error, failuresInARow }, 'Update of priority rules failed');
  };
  const round = { deadlineMs: DEADLINE_MS, backoff: BACKOFF, clock };
  return {
    run: (signal) => repeat({ ...round, task: compare, periodMs: COMPARE_EVERY_MS, onError: onCompareError }, signal),
    duty: {
      run: (end, term) => {
        writeDue.again(0);
        const task = (signal: AbortSignal): Promise<void> => write(signal, term);
        return repeat({ ...round, task, periodMs: WRITE_EVERY_MS, onError: onWriteError }, end);
      },
    },
    conditionOf: (policy) => (isJustBehind() ? undefined : enforcementCondition(policy, state)),
  };
}

const UNKNOWN = { isCurrent: undefined, problem: undefined, missing: [], leftOut: new Map() };

function cached({ policies, classes }: RuleReconcilerOptions['caches']): Rules {
  return {
    policies: [...policies.values()],
    classes: new Map(Array.from(classes.values(), (each) => [each.name, each])),
  };
}

/**
 * Tracks when a comparison is due: after a change of policies or classes, including one during a comparison, and after
 * a pause.
 */
function dueAfter({ policies, classes }: RuleReconcilerOptions['caches'], clock: Clock) {
  let dueAt = -Infinity;
  for (const cache of [policies, classes]) cache.onChange(() => (dueAt = -Infinity));
  return {
    /** Whether it is due now; if so, only a change or `again` makes it due again. */
    begin: (): boolean => {
      if (clock.monotonic() < dueAt) return false;
      dueAt = Infinity;
      return true;
    },
    again: (pauseMs: number): void => {
      dueAt = Math.min(dueAt, clock.monotonic() + pauseMs);
    },
  };
}
