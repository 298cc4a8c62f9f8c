import { type TaintLimits, type NodeChange, planNodeChanges } from '#shared/domain/node-control/plan-node-changes.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { MANY_UNDONE } from './contested-writes.ts';
import { CONDITION_TYPES, type KnownNode, TAINT_KEYS } from './known-node.ts';
import { reportOf } from './known-pressure.ts';
import type { NodesConfiguration } from './nodes-configuration.ts';
import { type PassPorts, writeFenced } from './pass-ports.ts';
import { type NodeWrite, writeConditions, writeTaints } from './write-node.ts';

/** Brings our taints and conditions of every node up to date with what its agent reported. */
export async function runTaintPass(ports: PassPorts, signal: AbortSignal): Promise<void> {
  const { caches, configuration, clock, metrics, contested } = ports;
  const now = clock.now();
  const nodes = Array.from(caches.nodes.values(), (node) => ({ ...node, heldOff: contested.heldOff(node) }));
  const reports = new Map(Array.from(caches.pressures.values(), (each) => [each.name, reportOf(each, now)]));
  const { changes, heldBack } = planNodeChanges(nodes, reports, limitsOf(configuration), now);
  metrics.taintedNodes.set(nodes.filter(({ taints }) => taints.size > 0).length);
  metrics.heldBackNodes.set(heldBack.length);
  metrics.contestedNodes.set(contested.contestedNodes());
  if (configuration.taints === 'DryRun') {
    announce(ports, changes);
    return;
  }
  for (const [name, own] of inWriteOrder(changes, ports)) {
    if (signal.aborted) return;
    const node = caches.nodes.get(name);
    if (node === undefined) continue;
    const due = own.filter((change) => !contested.mustWait(node, change));
    await carryOut({ node, changes: due, now }, ports, signal);
  }
}

type NodeChanges = readonly [node: string, changes: readonly NodeChange[]];

/**
 * The changes of each node: taints to remove first, which make room for others, then taints to add. Among alike nodes,
 * those without a recent write come first.
 */
function inWriteOrder(changes: readonly NodeChange[], { budgets }: PassPorts): readonly NodeChanges[] {
  const byNode = [...Map.groupBy(changes, ({ node }) => node)];
  const rankOf = ([, own]: NodeChanges): number => Math.min(...own.map(({ kind }) => WRITE_ORDER.indexOf(kind)));
  return budgets.nodes.inTurn(byNode, ([node]) => node).toSorted((left, right) => rankOf(left) - rankOf(right));
}

const WRITE_ORDER: readonly NodeChange['kind'][] = ['untaint', 'taint', 'condition'];

function limitsOf(configuration: NodesConfiguration): TaintLimits {
  const { families, transitionSeconds, unknownSeconds, mostTaintedPercent } = configuration;
  return {
    families,
    transitionMs: transitionSeconds * 1000,
    unknownMs: unknownSeconds * 1000,
    mostTaintedShare: mostTaintedPercent / 100,
  };
}

/** Conditions are not announced: they change nothing about where pods go. */
function announce({ announce: say }: PassPorts, changes: readonly NodeChange[]): void {
  const taints = changes.filter(({ kind }) => kind !== 'condition');
  say(
    'taints',
    taints.map(({ kind, because }) => `${kind}: ${because.text}`),
  );
}

async function carryOut({ node, changes, now }: NodeWrite, ports: PassPorts, signal: AbortSignal): Promise<void> {
  const { client, log } = ports;
  const [conditions = [], taints = []] = [true, false].map((isCondition) =>
    changes.filter(({ kind }) => (kind === 'condition') === isCondition),
  );
  if (taints.length > 0) {
    const target = { object: 'taints', name: node.name } as const;
    const write = () => writeTaints(client, { node, changes: taints, now }, signal);
    const isWritten = await writeFenced(ports, target, write, signal);
    if (isWritten)
      for (const change of taints) {
        log.info({ ...change.because.facts, code: change.because.code, kind: change.kind }, 'Node taint changed');
        noteWrite(node, change, ports);
      }
  }
  if (conditions.length > 0) {
    const target = { object: 'conditions', name: node.name } as const;
    const write = () => writeConditions(client, { node, changes: conditions, now }, signal);
    const isWritten = await writeFenced(ports, target, write, signal);
    if (isWritten) for (const change of conditions) noteWrite(node, change, ports);
  }
}

/** Another controller that undoes the same change again and again is reported, and left alone for longer and longer. */
function noteWrite(node: KnownNode, change: NodeChange, { contested, events, log }: PassPorts): void {
  const { times, waitMs } = contested.note(node, change);
  if (times < MANY_UNDONE) return;
  const what = change.kind === 'condition' ? CONDITION_TYPES[change.family] : TAINT_KEYS[change.family];
  const note = `another controller undoes ${what} on this node: ${times} times in a row; next attempt in ${waitMs / 1_000} s at the earliest`;
  log.warn({ node: node.name, what, times, waitMs }, 'Node write contested');
  events.record({
    regarding: { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid },
    type: 'Warning',
    reason: EVENT_REASONS.nodeContested,
    note,
    action: 'Taint',
  });
}
