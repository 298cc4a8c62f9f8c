import { type WrittenBudget, forbidsEverything } from '#shared/domain/disruption/disruption-limit.ts';
import { COMPONENT_NAMES, DISRUPTION_POLICY } from '#shared/kube/api-names.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { getObject, patchObject } from '#shared/kube/client/objects.ts';
import { decodeWrittenBudget } from '#shared/kube/decode/decode-objects.ts';
import { conditionsPatch } from '#shared/kube/kube-object.ts';
import { createReflector, decodeWith } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import { DISRUPTION_POLICIES, PDBS } from '#shared/kube/resource.ts';
import { faultLog, type FaultLog } from '#shared/runtime/fault-log.ts';

const PERIOD_MS = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_NAMED = 20;
const OBJECT = `DisruptionPolicy ${DISRUPTION_POLICY}`;
const ADDRESS = { resource: DISRUPTION_POLICIES, name: DISRUPTION_POLICY };

/** Reports in the DisruptionPolicy which budgets forbid every eviction (S3-17). Nothing is read before the streams run. */
export function createBudgetReport(options: SharedContext) {
  const { clock, log } = options;
  const budgets = createReflector({ ...options, resource: PDBS, slim: forbidding, backoff: REFLECTOR_BACKOFF });
  const faults = faultLog(log, 'Budgets that forbid every eviction not reported');
  let reportedAt = -Infinity;
  return {
    report: async (isDefined: boolean, signal: AbortSignal): Promise<void> => {
      if (!isDefined || !budgets.isSynced() || clock.monotonic() - reportedAt < PERIOD_MS) return;
      reportedAt = clock.monotonic();
      const names = [...budgets.values()].flatMap(({ forbids }) => forbids ?? []).sort();
      await writeReport(names, options, faults, signal);
    },
  };
}

/** A policy that was deleted meanwhile has nothing to report in. */
async function writeReport(
  names: readonly string[],
  { client, clock }: Pick<ClientContext, 'client' | 'clock'>,
  faults: FaultLog,
  signal: AbortSignal,
): Promise<void> {
  const failed = (outcome: Failure): void => {
    if (outcome.kind !== 'notFound' && !signal.aborted) faults.failed(OBJECT, outcome);
  };
  const policy = await getObject(client, ADDRESS, { timeoutMs: TIMEOUT_MS, signal });
  if (policy.kind !== 'ok') {
    failed(policy);
    return;
  }
  const patch = conditionsPatch(policy.object, [conditionOf(names)], clock.now());
  if (patch === undefined) {
    faults.worked(OBJECT);
    return;
  }
  const { status } = patch as { readonly status: object };
  const body = { status: { ...status, forbiddingBudgets: names.length } };
  const write = { type: 'merge', timeoutMs: TIMEOUT_MS, fieldManager: COMPONENT_NAMES.scheduler, signal } as const;
  const outcome = await patchObject(client, { ...ADDRESS, subresource: 'status' }, body, write);
  if (outcome.kind === 'ok') faults.worked(OBJECT);
  else failed(outcome);
}

const decode = decodeWith(decodeWrittenBudget);

/** Keeps only the names of budgets that forbid every eviction. */
function forbidding(raw: unknown): { readonly forbids: string | undefined } {
  const budget: WrittenBudget & { readonly namespace: string; readonly name: string } = decode(raw);
  return { forbids: forbidsEverything(budget) && `${budget.namespace}/${budget.name}` };
}

function conditionOf(names: readonly string[]) {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return names.length === 0
    ? ({
        type: 'ForbiddingBudgets',
        status: 'False',
        reason: 'None',
        message: 'Every budget may allow an eviction',
      } as const)
    : ({
        type: 'ForbiddingBudgets',
        status: 'True',
        reason: 'EvictionsForbidden',
        message: `These PodDisruptionBudgets forbid every eviction: ${names.slice(0, MAX_NAMED).join(', ')}${more}`,
      } as const);
}
