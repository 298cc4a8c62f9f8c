import { z } from 'zod';
import { encodeDisruption, encodeOutcome } from '#shared/api/disruption.ts';
import { disruptionOf, type Removal } from '#shared/domain/disruption/removal.ts';
import type { DueWrite, Removals } from '#shared/domain/disruption/removals.ts';
import { DEFAULT_RETENTION, expiredRecords, type StoredRecord } from '#shared/domain/disruption/disruption.ts';
import { isSameOwner } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { COMPONENT_NAMES, DISRUPTION_POLICY, LABEL_POD_UID } from '#shared/kube/api-names.ts';
import { createObject, deleteObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart, TermWork } from '#shared/kube/lease/run-controller.ts';
import type { ListWatch } from '#shared/kube/reflector/list-watch.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import { DISRUPTIONS } from '#shared/kube/resource.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { faultLog, reportRounds } from '#shared/runtime/fault-log.ts';
import { type PositionAddress, positionKeeper } from './handled-position.ts';
import { createDebits } from './debit-removals.ts';
import { createKnownLimits } from './known-limits.ts';
import { createBudgetReport } from './report-budgets.ts';
import { createLimitReports } from './report-limits.ts';
import { catchUpOnce } from './missed-removals.ts';

/** `disruptions` of SchedulerConfiguration: the record of removed pods. */
export const disruptionsSchema = z
  .strictObject({
    record: z
      .enum(['Off', 'On'])
      .default('Off')
      .describe(
        'On writes a Disruption for each removed pod, on one replica; reads all pods, also without the extender',
      ),
  })
  .prefault({});

export interface DisruptionRecorderOptions extends SharedContext {
  /** Of the ConfigMap that stores up to where removals are recorded. */
  readonly positionNamespace: string;
  readonly removals: Removals;
  readonly snapshot: Pick<ClusterSnapshot, 'pressures' | 'nodes' | 'budgets'>;
  /** The watch that observes the removals. */
  readonly pods: Pick<ListWatch, 'position' | 'synced'>;
}

/** Of the Lease of this part, and of that ConfigMap. */
const NAME = 'plimsoll-disruptions';
const PERIOD_MS = 1_000;
const DEADLINE_MS = 60_000;
/**
 * Writes per pass, so per second: records and outcomes, and with the deletions of expired records. Limits have 20 more.
 */
const MAX_RECORDED = 25;
const MAX_WRITES = 30;
const MAX_DELETED = 20;
const RETENTION_PERIOD_MS = 10_000;
const WRITE = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/** Records each removal as a Disruption, and its outcome, on the replica that leads; deletes old records. */
export function disruptionRecorder(options: DisruptionRecorderOptions): ControllerPart {
  const recordMetrics = createRecordMetrics(options);
  const address = { name: NAME, namespace: options.positionNamespace };
  const caughtUp = catchUpOnce(options, address);
  const recording = { ...options, recordMetrics, caughtUp, address, copies: createCopies(options) };
  const begin = (term: LeaseTerm): TermWork => recordOneTerm({ ...recording, term });
  return { name: 'disruptions', lease: NAME, begin };
}

/** The other replicas only follow the removals. Runs until `signal` aborts; never rejects. */
export function pruneRemovals(
  options: Pick<DisruptionRecorderOptions, 'clock' | 'random' | 'log' | 'removals'>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, removals } = options;
  const rounds = reportRounds(log, 'Removed pods not forgotten');
  const task = (): Promise<void> => {
    removals.prune(clock.now());
    return Promise.resolve();
  };
  return repeat({ task, periodMs: RETENTION_PERIOD_MS, deadlineMs: DEADLINE_MS, ...rounds, clock, random }, signal);
}

interface Recording extends DisruptionRecorderOptions {
  readonly address: PositionAddress;
  /** Reads, in the first term of the process, what happened while no replica ran. Never rejects. */
  readonly caughtUp: (signal: AbortSignal) => Promise<void>;
  readonly recordMetrics: ReturnType<typeof createRecordMetrics>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  readonly copies: ReturnType<typeof createCopies>;
}

/** What is stored already: records, limits, and budgets. Nothing is read before the streams run. */
function createCopies(options: DisruptionRecorderOptions) {
  const stored = createReflector({ ...options, resource: DISRUPTIONS, slim: readStored, isMetadataOnly: true });
  stored.onChange(({ kind, value }) => {
    if (kind === 'added') options.removals.written(value.podUid, 'record');
  });
  return { stored, known: createKnownLimits(options), budgets: createBudgetReport(options) };
}

/** Records that other replicas have written are not written again. */
function recordOneTerm(options: Recording): TermWork {
  const { removals, log, caughtUp } = options;
  const { stored } = options.copies;
  const prepare = async (signal: AbortSignal): Promise<void> => {
    await caughtUp(signal);
    for (const { podUid } of stored.values()) removals.written(podUid, 'record');
  };
  const expired = expiredOf(options);
  const keepPosition = positionKeeper(options);
  const keepAccounts = accountKeeper(options);
  const task = async (passing: AbortSignal): Promise<void> => {
    await keepPosition(passing, async () => {
      // First, because the account shows who requested a removal.
      await keepAccounts(passing);
      await runPass(options, expired, passing);
    });
  };
  const rounds = reportRounds(log, 'Disruptions not recorded');
  const passes = [{ task, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, ...rounds }];
  return { sources: [stored], prepare, passes };
}

/**
 * Debits removals to the accounts of their namespaces and reports what limits count, as long as this replica leads. It
 * waits for neither: a cluster without limits and budgets has removals too.
 */
function accountKeeper(options: Recording) {
  const { known, budgets } = options.copies;
  const debit = createDebits({ ...options, known });
  const report = createLimitReports({ ...options, known });
  return async (passing: AbortSignal): Promise<void> => {
    if (!options.term.isHeld()) return;
    const changed = await debit(passing);
    if (!options.term.isHeld()) return;
    await report(changed, passing);
    await budgets.report(known.policies.size > 0, passing);
  };
}

interface StoredDisruption extends StoredRecord {
  readonly podUid: string;
}

function readStored({ metadata }: KubeObject): StoredDisruption {
  const { namespace = '', name = '', creationTimestamp = '', labels } = metadata;
  return { namespace, name, createdAt: Date.parse(creationTimestamp), podUid: labels?.[LABEL_POD_UID] ?? '' };
}

type Expired = (most: number) => readonly StoredDisruption[];

/** The expired records; none before the policy has been read. A pass does not sort all of them. */
function expiredOf({ clock, copies: { stored, known } }: Recording): Expired {
  let expired: readonly StoredDisruption[] = [];
  let judgedAt = -Infinity;
  return (most) => {
    if (known.policies.isSynced() && clock.monotonic() - judgedAt >= RETENTION_PERIOD_MS) {
      const { retention = DEFAULT_RETENTION } = known.policies.get(DISRUPTION_POLICY) ?? {};
      expired = expiredRecords(stored.values(), retention, clock.now());
      judgedAt = clock.monotonic();
    }
    const next = expired.slice(0, most);
    expired = expired.slice(most);
    return next;
  };
}

/** Records come first: their content is stored nowhere else yet. */
async function runPass(options: Recording, expired: Expired, signal: AbortSignal): Promise<void> {
  const { removals, clock, recordMetrics, term } = options;
  const due = removals.due(clock.now(), MAX_RECORDED);
  recordMetrics.followed.set(removals.size);
  for (const each of due) {
    if (!term.isHeld() || signal.aborted) return;
    if (!(await writeDue(each, options, signal))) return;
  }
  for (const each of expired(Math.min(MAX_DELETED, MAX_WRITES - due.length))) {
    if (!term.isHeld() || signal.aborted) return;
    const outcome = await deleteObject(
      options.client,
      { resource: DISRUPTIONS, ...each },
      { timeoutMs: 5_000, signal },
    );
    recordMetrics.writes.add({ write: 'deletion', outcome: outcome.kind });
    if (outcome.kind !== 'notFound')
      faultLog(options.log, 'Expired Disruption not deleted').answered(`in ${each.namespace}`, outcome);
  }
}

/** A record that another replica has written, or one that no retry would get stored. */
const SETTLED: readonly Outcome<unknown>['kind'][] = ['ok', 'alreadyExists', 'notFound', 'invalid'];

/** Resolves with whether the answer of the API server is final; otherwise the next pass tries again. */
async function writeDue({ uid, removal, write }: DueWrite, options: Recording, signal: AbortSignal): Promise<boolean> {
  const { removals, recordMetrics, log } = options;
  const outcome = await (write === 'record' ? createRecord : patchOutcome)(removal, options, signal);
  recordMetrics.writes.add({ write, outcome: outcome.kind });
  if (outcome.kind === 'ok' && write === 'record')
    recordMetrics.removed.add({ cause: disruptionOf(removal).spec.cause });
  const isSettled = SETTLED.includes(outcome.kind) || isTerminatingNamespace(outcome);
  if (isSettled) removals.written(uid, write, removal.outcome.others.length);
  const faults = faultLog(log, 'Disruption not written');
  if (isSettled) faults.worked(write);
  else faults.failed(write, { kind: outcome.kind, message: messageOf(outcome) });
  return isSettled;
}

/** The namespace takes no new objects, and a record would be deleted with it. */
function isTerminatingNamespace(outcome: Outcome<unknown>): boolean {
  return outcome.kind === 'forbidden' && outcome.details?.causes[0]?.reason === 'NamespaceTerminating';
}

function messageOf(outcome: Outcome<unknown>): string {
  return outcome.kind === 'ok' ? '' : outcome.message;
}

function createRecord(removal: Removal, { client }: Recording, signal: AbortSignal): Promise<Outcome<unknown>> {
  const disruption = disruptionOf(removal);
  const object = encodeDisruption(disruption, { [LABEL_POD_UID]: disruption.spec.podUid });
  return createObject(client, { resource: DISRUPTIONS, namespace: disruption.namespace }, object, { ...WRITE, signal });
}

function patchOutcome(removal: Removal, options: Recording, signal: AbortSignal): Promise<Outcome<unknown>> {
  const disruption = disruptionOf(withAvoidEntry(removal, options.snapshot));
  const { namespace, name } = disruption;
  const address = { resource: DISRUPTIONS, namespace, name, subresource: 'status' };
  return patchObject(
    options.client,
    address,
    { status: encodeOutcome(disruption) },
    { ...WRITE, type: 'merge', signal },
  );
}

/** Whether the removal keeps the owner off the node, according to the node's NodePressure (S3-28). */
function withAvoidEntry(removal: Removal, { pressures }: Pick<ClusterSnapshot, 'pressures'>): Removal {
  const { namespace, owner, node, removedAt } = removal.pod;
  const entries = pressures.get(node)?.avoid ?? [];
  const entry = owner && entries.find((each) => isSameOwner(each.owner, { ...owner, namespace }));
  if (entry === undefined || entry.until <= removedAt) return removal;
  return { ...removal, outcome: { ...removal.outcome, avoid: { isHard: entry.isHard, until: entry.until } } };
}

function createRecordMetrics({ metrics }: Pick<DisruptionRecorderOptions, 'metrics'>) {
  return {
    removed: metrics.counter('plimsoll_disruptions_total', 'Removed pods that were recorded, by cause', ['cause']),
    writes: metrics.counter(
      'plimsoll_disruption_writes_total',
      'Writes of Disruptions: records, names of other pods, outcomes and deletions of old ones, by outcome of the write',
      ['write', 'outcome'],
    ),
    followed: metrics.gauge('plimsoll_disruptions_followed', 'Removed pods whose outcome is still followed'),
  };
}
