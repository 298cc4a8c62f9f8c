import { type NodePressure, encodeAvoid } from '#shared/api/node-pressure.ts';
import type { Instant, OwnerKey } from '#shared/domain/pod/pod.ts';
import type { NodeMode } from '#shared/domain/nodes/node-settings.ts';
import {
  type AvoidChange,
  type AvoidPlan,
  type AvoidPolicy,
  planAvoidance,
} from '#shared/domain/nodes/plan-avoidance.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { ObjectReference } from '#shared/kube/events/event-recorder.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { AvoidEntry } from '#shared/domain/nodes/avoid-nodes.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { mergeAsRead, type NodePassPorts, writeFenced } from './pass-ports.ts';

interface Planned {
  readonly mode: Exclude<NodeMode, 'Disabled'>;
  readonly pressure: NodePressure;
  readonly plan: AvoidPlan;
}

/** Brings the avoid list of every node up to date with what its NodePressure records. */
export async function runAvoidancePass(ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  const { caches, metrics } = ports;
  const pressures = [...caches.pressures.values()];
  metrics.avoidEntries.set(pressures.reduce((sum, { avoid }) => sum + avoid.length, 0));
  const changed = await inChunks(planEach(pressures, ports), ports.clock, signal);
  const { Enforce = [], DryRun = [] } = Object.groupBy(changed, ({ mode }) => mode);
  announce(ports, DryRun);
  for (const each of ports.budgets.avoid.inTurn(Enforce, ({ pressure }) => pressure.name)) {
    if (signal.aborted) return;
    await carryOut(each, ports, signal);
  }
}

/**
 * The plans that change something, one node per step: planning a large cluster at once would block the process too
 * long.
 */
function* planEach(pressures: readonly NodePressure[], ports: NodePassPorts): Generator<undefined, readonly Planned[]> {
  const changed: Planned[] = [];
  for (const pressure of pressures) {
    const { avoidance } = ports.settingsOf(pressure.name);
    if (avoidance.mode !== 'Disabled') {
      const plan = planFor(pressure, avoidance, ports.clock.now());
      if (plan.isChanged) changed.push({ mode: avoidance.mode, pressure, plan });
    }
    yield;
  }
  return changed;
}

function planFor(pressure: NodePressure, policy: AvoidPolicy, now: Instant): AvoidPlan {
  const { name, avoid, preemptionLoops, status } = pressure;
  return planAvoidance({ name, avoid, preemptionLoops, evictions: status?.evictions ?? [] }, policy, now);
}

function announce({ announce: say }: NodePassPorts, planned: readonly Planned[]): void {
  const changes = planned.flatMap(({ plan }) => plan.changes);
  say(
    'avoid',
    changes.map(({ because }) => because.text),
  );
}

async function carryOut({ pressure, plan }: Planned, ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  const { client } = ports;
  const target = { object: 'avoid', name: pressure.name } as const;
  const write = () => writeAvoid(client, pressure, plan.avoid, signal);
  const isWritten = await writeFenced(ports, target, write, signal);
  if (isWritten) for (const change of plan.changes) report(change, pressure.name, ports);
}

const LOOP_REASONS: Readonly<Record<string, string>> = {
  EvictionLoop: EVENT_REASONS.evictionLoop,
  PreemptionLoop: EVENT_REASONS.preemptionLoop,
};

function report({ entry, because }: AvoidChange, node: string, { log, metrics, events, caches }: NodePassPorts): void {
  const until = new Date(entry.until).toISOString();
  log.info({ ...because.facts, code: because.code, until, hard: entry.hard }, 'Owner is kept away from node');
  const reason = LOOP_REASONS[because.code];
  if (reason === undefined) return;
  if (reason === EVENT_REASONS.evictionLoop) metrics.loops.add();
  events.record({
    regarding: { apiVersion: 'v1', kind: 'Node', name: node, uid: caches.nodes.get(node)?.uid ?? '' },
    related: referenceTo(entry.owner),
    type: 'Warning',
    reason,
    note: because.text,
    action: 'Avoid',
  });
}

const API_VERSIONS: Readonly<Record<string, string>> = {
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
  ReplicationController: 'v1',
};

/** The agent records no API version, so it is known only for built-in kinds and empty for others. */
function referenceTo({ namespace, kind, name }: OwnerKey): ObjectReference {
  return { apiVersion: API_VERSIONS[kind] ?? '', kind, namespace, name };
}

/** Replaces `spec.avoid`. */
function writeAvoid(
  client: KubeClient,
  { name, resourceVersion }: NodePressure,
  avoid: readonly AvoidEntry[],
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const address = { resource: NODE_PRESSURES, name, resourceVersion };
  return mergeAsRead(client, address, { spec: { avoid: encodeAvoid(avoid) } }, signal);
}
