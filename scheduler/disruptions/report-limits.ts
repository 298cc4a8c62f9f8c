import { encodeLimitStatus } from '#shared/api/disruption-limit.ts';
import { limitStatus } from '#shared/domain/disruption/limit-status.ts';
import { type DisruptionLimit, countPods } from '#shared/domain/disruption/disruption-limit.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { readNamespacePods } from '#shared/kube/list/read-some.ts';
import { DISRUPTION_LIMITS } from '#shared/kube/resource.ts';
import { faultLog, type FaultLog } from '#shared/runtime/fault-log.ts';
import { accountStore, type DebitOptions } from './debit-removals.ts';
import { LimitTurns } from './limit-turns.ts';

/** A namespace is reported again after this time: its windows move on even without removals. */
const PERIOD_MS = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_LIMITS = 20;

/**
 * Reports in the status of each DisruptionLimit what it counts (S3-20). A pass covers one namespace, because it reads
 * the pods of that namespace, and in it the limits that have waited longest.
 */
export function createLimitReports(options: DebitOptions) {
  const { clock, known, log } = options;
  const turns = new LimitTurns<DisruptionLimit>({ periodMs: PERIOD_MS, most: MAX_LIMITS });
  const written = new Map<string, string>();
  const faults = faultLog(log, 'Status of a DisruptionLimit not written');
  return async (changed: readonly string[], signal: AbortSignal): Promise<void> => {
    const byNamespace = Map.groupBy(known.limits.values(), ({ namespace }) => namespace);
    for (const key of written.keys()) if (known.limits.get(key) === undefined) written.delete(key);
    const next = turns.next(byNamespace, changed, clock.monotonic());
    if (next === undefined) return;
    const reports = faultLog(log, 'Limits of disruptions not reported');
    try {
      await reportNamespace(next.namespace, next.limits, { ...options, written, faults }, signal);
      reports.worked(next.namespace);
    } catch (error) {
      turns.failed(next.namespace);
      reports.threw(next.namespace, error);
    }
  };
}

interface Reporting extends DebitOptions {
  /** The last written report of each limit, by namespace and name. */
  readonly written: Map<string, string>;
  readonly faults: FaultLog;
}

async function reportNamespace(
  namespace: string,
  limits: readonly DisruptionLimit[],
  options: Reporting,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, written, faults } = options;
  const [pods, { value: account }] = await Promise.all([
    readNamespacePods(client, namespace, { timeoutMs: TIMEOUT_MS, signal }),
    accountStore(namespace, options).read(TIMEOUT_MS),
  ]);
  for (const limit of limits) {
    const counted = countPods(pods.filter(({ labels }) => limit.selector.matches(labels)));
    const status = encodeLimitStatus(limitStatus(limit, counted, account, clock.now()));
    const [key, text] = [`${namespace}/${limit.name}`, JSON.stringify(status)];
    if (written.get(key) === text) continue;
    const address = { resource: DISRUPTION_LIMITS, namespace, name: limit.name, subresource: 'status' };
    const patch = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: TIMEOUT_MS, type: 'merge', signal } as const;
    const outcome = await patchObject(client, address, { status }, patch);
    if (outcome.kind === 'ok') {
      written.set(key, text);
      faults.worked(key);
      continue;
    }
    written.delete(key);
    if (!signal.aborted && outcome.kind !== 'notFound') faults.failed(key, outcome);
  }
}
