import type { IsGuarded } from '#shared/decide/queues/forged-marks.ts';
import { timeText } from '#shared/api/fields.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { QUEUE_POLICY_NAMES } from '#shared/kube/api-names.ts';
import { managedName } from '#shared/kube/namespace-switches.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import type { FailureKind } from '#shared/kube/client/outcome.ts';
import { ADMISSION_POLICIES, ADMISSION_POLICY_BINDINGS } from '#shared/kube/resource.ts';
import type { SchedulerConfiguration } from './configuration.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { type Backoff, repeat } from '#shared/runtime/repeat.ts';

/** The API server needs so long at most until it applies a policy. */
const IN_FORCE_AFTER_MS = 10_000;
const PERIOD_MS = 30_000;
const DEADLINE_MS = 5_000;
const BACKOFF: Backoff = { initialMs: 500, maxMs: 10_000, factor: 2, jitter: 0.5 };
const { mark, guard } = QUEUE_POLICY_NAMES;
/** The policy, and its bindings for namespaces whose pods do not wait and for those whose pods do, by either label. */
const PARTS = [
  { resource: ADMISSION_POLICIES, name: mark },
  { resource: ADMISSION_POLICY_BINDINGS, name: mark },
  { resource: ADMISSION_POLICY_BINDINGS, name: guard },
  { resource: ADMISSION_POLICY_BINDINGS, name: managedName(guard) },
];
/** The API server says that there is no such policy for us. */
const ANSWERS: ReadonlySet<FailureKind> = new Set(['notFound', 'forbidden']);

/**
 * Follows since when the API server lets only the leader of the queues write marks: since the policy and its bindings
 * exist, which are made again after an uninstallation.
 */
export class MarkGuard {
  readonly isGuarded: IsGuarded = (createdAt) => createdAt >= (this.#since ?? Infinity);
  #since: Instant | undefined;
  #isRead = false;
  /** Only parts that read marks have the right to read the policy. */
  readonly #isNeeded: boolean;

  constructor({ extender, queues }: Pick<SchedulerConfiguration, 'extender' | 'queues'>) {
    this.#isNeeded = extender === 'On' || queues.passes === 'On';
  }

  /** Resolves after the first answer, so that what is read after it is judged right. */
  follow(
    { client, clock, log }: Pick<ClientContext, 'client' | 'clock' | 'log'>,
    signal: AbortSignal,
  ): Promise<undefined> {
    if (!this.#isNeeded) return Promise.resolve(undefined);
    const first = Promise.withResolvers<undefined>();
    const task = async (round: AbortSignal): Promise<void> => {
      const times = await Promise.all(PARTS.map((part) => createdAt(client, part, round)));
      const since = times.every((time) => time !== undefined) ? Math.max(...times) + IN_FORCE_AFTER_MS : undefined;
      if (!this.#isRead || since !== this.#since)
        log.info({ since: since && timeText(since) }, 'Marks of pods guarded');
      [this.#since, this.#isRead] = [since, true];
      first.resolve(undefined);
    };
    const rounds = reportRounds(log, 'Policy that guards marks not read');
    const onError = (err: unknown, failures: number): void => {
      if (failures >= 3) rounds.onError(err);
    };
    const timing = { periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, backoff: BACKOFF, ...rounds, onError, clock };
    void repeat({ ...timing, task }, signal).then(() => first.resolve(undefined));
    return first.promise;
  }
}

async function createdAt(
  client: ClientContext['client'],
  part: (typeof PARTS)[number],
  signal: AbortSignal,
): Promise<Instant | undefined> {
  const outcome = await getObject(client, part, { signal });
  if (outcome.kind === 'ok') return Date.parse(outcome.object.metadata.creationTimestamp ?? '') || undefined;
  if (ANSWERS.has(outcome.kind)) return undefined;
  throw new Error(`cannot read ${part.resource.kind} ${part.name}: ${outcome.message}`);
}
