import type { CompiledRules } from '#shared/domain/priority-rules/compile-rules.ts';
import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { Condition } from '#shared/kube/kube-object.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart } from '#shared/kube/lease/run-controller.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { repeat, type Repetition } from '#shared/runtime/repeat.ts';
import { type Caches, readRules, type Rules } from '#webhook/cluster-state/caches.ts';
import { liveReader, type ReadOwn } from '#webhook/cluster-state/read-own.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import { compareRules, type Comparison, writeRules } from './stored-rules.ts';
import { missingPolicies } from './enforcing-policies.ts';
import {
  enforcementCondition,
  behindMs,
  isJustBehind,
  nextRuleState,
  unknownRules,
  type RuleEvent,
  type RuleState,
} from './rule-state.ts';
import { LOG } from '#webhook/messages.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';

export interface RuleReconcilerOptions extends Omit<ClientContext, 'random'> {
  readonly caches: Pick<Caches, 'policies' | 'classes' | 'priorityQuotas'>;
  readonly mode: WebhookConfiguration['mode'];
  readonly read: ReadOwn;
}

/** The defaults of the compiled rules, and the classes that the rules know. */
export type StoredRules = Pick<CompiledRules, 'giving'> & Pick<Comparison, 'classes'>;

const COMPARE_EVERY_MS = 1_000;
const WRITE_EVERY_MS = 250;
/** A change of our objects by another client is noticed after this long. */
const VERIFY_EVERY_MS = 10_000;
const DEADLINE_MS = 10_000;
const READ_MS = 5_000;
const BACKOFF = { initialMs: 250, maxMs: 10_000, factor: 2, jitter: 0.5 };

/**
 * Keeps the rules that the API server enforces equal to the policies. Compares nothing before `run` and writes nothing
 * before its part leads.
 */
export class RuleReconciler {
  readonly #options: RuleReconcilerOptions;
  readonly #metrics: ReturnType<typeof ruleMetrics>;
  readonly #comparing: ReturnType<typeof reportRounds>;
  readonly #writing: ReturnType<typeof reportRounds>;
  readonly #round: Pick<Repetition, 'deadlineMs' | 'backoff' | 'clock'>;
  readonly #compareDue: ReturnType<typeof dueAfter>;
  readonly #writeDue: ReturnType<typeof dueAfter>;
  #state: RuleState;
  /** The latest rules that are compiled and stored. */
  #stored: Pick<Comparison, 'compiled' | 'classes'> | undefined;

  constructor(options: RuleReconcilerOptions) {
    const { caches, clock, metrics, mode } = options;
    this.#options = options;
    this.#metrics = ruleMetrics(metrics);
    this.#comparing = reportRounds(options.log, LOG.ruleComparisonFailed);
    this.#writing = reportRounds(options.log, LOG.ruleUpdateFailed);
    this.#round = { deadlineMs: DEADLINE_MS, backoff: BACKOFF, clock };
    this.#compareDue = dueAfter(caches, clock);
    this.#writeDue = dueAfter(caches, clock);
    this.#state = unknownRules(mode === 'DryRun');
  }

  /** Compares the rules; every replica measures how long they have been outdated. */
  run(signal: AbortSignal): Promise<void> {
    const task = (end: AbortSignal): Promise<void> => this.#compare(end);
    const onError = (error: unknown): void => this.#comparisonFailed(error);
    return repeat({ ...this.#round, ...this.#comparing, task, periodMs: COMPARE_EVERY_MS, onError }, signal);
  }

  /** Writes the rules; only the leader runs it. */
  readonly part: ControllerPart = {
    name: 'rules',
    begin: (term) => {
      this.#writeDue.again(0);
      const task = (signal: AbortSignal): Promise<void> => this.#write(signal, term);
      const onError = (error: unknown): void => this.#writeFailed(error);
      return { passes: [{ ...this.#round, ...this.#writing, task, periodMs: WRITE_EVERY_MS, onError }] };
    },
  };

  /** The condition of a policy, if known. */
  conditionOf(policy: PriorityPolicy): Condition | undefined {
    return isJustBehind(this.#state, this.#now()) ? undefined : enforcementCondition(policy, this.#state);
  }

  /** The defaults and rules that the API server applies, if they are current and contain every policy. */
  inForce(): StoredRules | undefined {
    const isLate = behindMs(this.#state, this.#now()) > 0 && !isJustBehind(this.#state, this.#now());
    if (isLate || this.#stored === undefined || this.#state.leftOut.size > 0) return undefined;
    return { giving: this.#stored.compiled.giving, classes: this.#stored.classes };
  }

  async #compare(signal: AbortSignal): Promise<void> {
    if (this.#compareDue.begin()) {
      const comparison = await this.#compareWith(cached(this.#options.caches), this.#options.read, signal);
      this.#compared(comparison);
      this.#compareDue.again(comparison.isCurrent ? VERIFY_EVERY_MS : COMPARE_EVERY_MS);
    }
    this.#metrics.age.set(behindMs(this.#state, this.#now()) / 1_000);
  }

  async #write(signal: AbortSignal, term: LeaseTerm): Promise<void> {
    if (!this.#writeDue.begin()) return;
    const { client, read, caches, clock } = this.#options;
    const seen = await this.#compareWith(cached(caches), read, signal);
    // Caches may lag, even behind what another leader has written, so writes are compiled from live objects.
    const live = seen.isCurrent ? seen : await this.#compareLive(signal);
    this.#compared(live);
    const written = (): void => this.#metrics.writes.add({ result: 'written' });
    await writeRules(client, live, { signal, term, now: clock.now(), written });
    this.#stored = live;
    this.#compared({ ...live, isCurrent: true });
    this.#note({ kind: 'written', missing: await missingPolicies(read, signal) });
    this.#writeDue.again(VERIFY_EVERY_MS);
  }

  #compareWith(rules: Rules, read: ReadOwn, signal: AbortSignal): Promise<Comparison> {
    return compareRules(rules, this.#options.mode, (address) => read(address, { signal }));
  }

  async #compareLive(signal: AbortSignal): Promise<Comparison> {
    const { client } = this.#options;
    return this.#compareWith(await readRules(client, READ_MS), liveReader(client), signal);
  }

  #compared({ compiled, isCurrent }: Comparison): void {
    this.#note({ kind: 'compared', isCurrent, leftOut: compiled.leftOut });
  }

  #comparisonFailed(error: unknown): void {
    this.#note({ kind: 'comparisonFailed' });
    this.#compareDue.again(0);
    this.#comparing.onError(error);
  }

  #writeFailed(error: unknown): void {
    this.#note({ kind: 'writeFailed', problem: errorText(error) });
    this.#metrics.writes.add({ result: 'failed' });
    this.#writeDue.again(0);
    this.#writing.onError(error);
  }

  #note(event: RuleEvent): void {
    this.#state = nextRuleState(this.#state, event, this.#now());
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}

function ruleMetrics(metrics: Metrics) {
  return {
    age: metrics.gauge(
      'plimsoll_priority_rules_behind_seconds',
      'Seconds for which the API server has enforced rules other than those of the PriorityPolicies; 0 while they match',
    ),
    writes: metrics.counter('plimsoll_priority_rules_writes_total', 'Writes of PriorityRules', ['result']),
  };
}

function cached({ policies, classes, priorityQuotas }: RuleReconcilerOptions['caches']): Rules {
  return {
    policies: [...policies.values()],
    priorityQuotas: [...priorityQuotas.values()],
    classes: new Map(Array.from(classes.values(), (each) => [each.name, each])),
  };
}

/**
 * Tracks when a comparison is due: after a change of policies, classes or quotas, including one during a comparison, and after
 * a pause.
 */
function dueAfter({ policies, classes, priorityQuotas }: RuleReconcilerOptions['caches'], clock: Clock) {
  let dueAt = -Infinity;
  for (const cache of [policies, classes, priorityQuotas]) cache.onChange(() => (dueAt = -Infinity));
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
