import {
  recordThresholds,
  type ThresholdRecord,
  type ThresholdReport,
} from '#shared/domain/pressure/threshold-record.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { decodePolicy, encodeThresholdRecords } from '#shared/api/node-pressure-policy/decode-policy.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { listObjects, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { type Condition, conditionsPatch, type KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { ControllerPart } from '#shared/kube/lease/run-controller.ts';
import { createReflector, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { NODE_PRESSURE_POLICIES, NODE_PRESSURES } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import { CONDITIONS, ERRORS, LOG } from '#webhook/messages.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';

const PERIOD_MS = 10_000;
const DEADLINE_MS = 10_000;

/** What the agent of a node reports, with the policy in force there. */
export interface NodeReport extends ThresholdReport {
  readonly policy: string | undefined;
}

/** Reads a NodePressure; `undefined` before its agent has reported any rules. */
export function readNodeReport(raw: KubeObject): NodeReport | undefined {
  const { name, status } = decodeNodePressure(raw);
  if (status?.rules === undefined) return undefined;
  const { policy, rules } = status;
  const waiting = rules.filter((each) => !each.confirmed && each.heldBy !== 'Policy' && each.policy === policy);
  return { node: name, policy, waiting: waiting.map(({ rule, generation }) => ({ rule, generation })) };
}

/**
 * Records in the status of each NodePressurePolicy which of its thresholds a node already met when they came into
 * force, so that no node enforces those (docs/contributing/decisions/thresholds.md). Agents read the status together with the policy.
 */
export function createThresholdRecorder(options: ClientContext): ControllerPart {
  const { random, log } = options;
  const rounds = reportRounds(log, LOG.thresholdsFailed);
  // The first failure is that of an API server which is just about to serve the kind.
  const onError = (err: unknown, failuresInARow: number): void => {
    if (failuresInARow >= 2) rounds.onError(err);
  };
  return {
    name: 'thresholds',
    begin: (term) => {
      const reports = createReflector({ ...options, resource: NODE_PRESSURES, slim: readNodeReport });
      const task = (signal: AbortSignal): Promise<void> => recordAll(options, reports, { signal, term });
      const pass = { task, periodMs: () => PERIOD_MS * (1 + random()), deadlineMs: DEADLINE_MS, ...rounds, onError };
      return { sources: [reports], passes: [pass] };
    },
  };
}

/** One round of the leader: the signal aborts it, and nothing is written after the leader's term. */
interface Round {
  readonly signal: AbortSignal;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
}

/** Writes the records that have changed. Rejects if policies cannot be listed or written. */
export async function recordAll(
  { client, clock, log }: Pick<ClientContext, 'client' | 'clock' | 'log'>,
  reports: Pick<Reflector<NodeReport>, 'values'>,
  { signal, term }: Round,
): Promise<void> {
  const listed = await listObjects(client, { resource: NODE_PRESSURE_POLICIES }, { signal });
  const { items } = expectOk(listed, `list ${NODE_PRESSURE_POLICIES.plural}`);
  const byPolicy = Map.groupBy(reports.values(), ({ policy }) => policy);
  for (const object of items) {
    const { name = '', resourceVersion } = object.metadata;
    const change = changeOf(object, byPolicy.get(name) ?? [], clock.now());
    if (change === undefined) continue;
    if (!term.isHeld()) return;
    const options = { type: 'merge', fieldManager: COMPONENT_NAMES.webhook, signal } as const;
    const address = { resource: NODE_PRESSURE_POLICIES, name, subresource: 'status' };
    const outcome = await patchObject(
      client,
      address,
      { metadata: { resourceVersion }, status: change.status },
      options,
    );
    // After a conflict the next round decides from the new object.
    if (outcome.kind === 'conflict') continue;
    if (outcome.kind !== 'ok') throw new Error(ERRORS.writeConditions('NodePressurePolicy', name, outcome.message));
    for (const { rule, nodes } of change.held) log.info({ policy: name, rule, nodes }, LOG.thresholdHeld);
  }
}

interface ThresholdChange {
  readonly status: object;
  /** Thresholds to hold from now on. */
  readonly held: readonly ThresholdRecord[];
}

/** What to write to a policy; `undefined` if nothing has changed, or if the policy cannot be read. */
function changeOf(object: KubeObject, reports: readonly NodeReport[], now: number): ThresholdChange | undefined {
  const decoded = decodePolicy(object);
  if (!decoded.ok) return undefined;
  const { policy } = decoded.value;
  const before = policy.thresholdRecords;
  const records = recordThresholds(before, { ...policy, rules: policy.thresholds.map(({ id }) => id) }, reports, now);
  if (records.length + before.length === 0) return undefined;
  const patch = conditionsPatch(object, [thresholdsCondition(records, policy)], now);
  const isSame = JSON.stringify(records) === JSON.stringify(before);
  if (patch === undefined && isSame) return undefined;
  const conditions = fieldOf(fieldOf(patch, 'status'), 'conditions');
  const isNew = ({ rule }: ThresholdRecord): boolean => !before.some((each) => each.rule === rule && isHeld(each));
  return {
    status: { thresholds: encodeThresholdRecords(records), ...(conditions !== undefined && { conditions }) },
    held: records.filter((each) => isHeld(each) && isNew(each)),
  };
}

function isHeld({ state }: ThresholdRecord): boolean {
  return state === 'Held';
}

/** Whether every threshold of a policy is in force; if not, the message names the node that holds it. */
export function thresholdsCondition(
  records: readonly ThresholdRecord[],
  { transitionPeriodMs }: Pick<AgentPolicy, 'transitionPeriodMs'>,
): Condition {
  const type = 'ThresholdsConfirmed';
  const held = records.filter(isHeld);
  if (held.length === 0) {
    return { type, status: 'True', reason: 'NoneHeld', message: CONDITIONS.thresholdsConfirmed() };
  }
  const seconds = transitionPeriodMs / 1000;
  const texts = held.map(({ rule, nodes, generation }) =>
    CONDITIONS.thresholdHeld({ rule, nodes, generation, seconds }),
  );
  return { type, status: 'False', reason: 'MetOnArrival', message: texts.join('; ') };
}
