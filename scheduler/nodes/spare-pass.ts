import { isFreshReport, MAX_AGE_MS } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodePressure, NodePressureStatus } from '#shared/api/node-pressure.ts';
import {
  hearAgent,
  isAgentSilent,
  planSpare,
  type SpareOffer,
  type SparePlan,
  type SpareReport,
} from '#shared/domain/nodes/plan-spare.ts';
import { SPARE_KINDS, SPARE_RESOURCES } from '#shared/domain/spare/spare-resources.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODES } from '#shared/kube/resource.ts';
import { NAMESPACE_NODE } from '#shared/kube/api-names.ts';
import type { KnownNode } from './known-node.ts';
import { mergeAsRead, type NodePassPorts, writeFenced } from './pass-ports.ts';

interface Planned {
  readonly node: KnownNode;
  readonly plan: SparePlan;
}

/** Brings what every node offers to spare pods up to date with what its agent reported; withdrawals come first. */
export async function runSparePass(ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  const { caches, budgets } = ports;
  forgetGone(ports);
  const planned = Array.from(caches.nodes.values(), (node): Planned => {
    const report = spareReportOf(caches.pressures.get(node.name), ports);
    return { node, plan: planSpare(node.spare, report, ports.settingsOf(node.name).spare) };
  });
  const changed = planned.filter(({ node, plan }) => plan.isChanged && (plan.isUrgent || !isTooSoon(node, ports)));
  const fair = budgets.spare.inTurn(changed, ({ node }) => node.name);
  for (const each of fair.toSorted((left, right) => rankOf(left) - rankOf(right))) {
    if (signal.aborted) return;
    await carryOut(each, ports, signal);
  }
}

/** Autoscalers make nodes with new names for as long as a replica leads. */
function forgetGone({ caches, spareWrites, heardAgents }: NodePassPorts): void {
  for (const known of [spareWrites, heardAgents])
    for (const name of known.keys()) if (caches.nodes.get(name) === undefined) known.delete(name);
}

/** Where another controller undoes what is written, it is not written again every second. */
const LEAST_MS = 10_000;

function isTooSoon({ name }: KnownNode, { spareWrites, clock }: NodePassPorts): boolean {
  return clock.monotonic() - (spareWrites.get(name) ?? -Infinity) < LEAST_MS;
}

function rankOf({ node, plan }: Planned): number {
  return SPARE_KINDS.some((kind) => (plan.offer[kind] ?? 0) > (node.spare.offered[kind] ?? 0)) ? 1 : 0;
}

function spareReportOf(pressure: NodePressure | undefined, ports: NodePassPorts): SpareReport | undefined {
  const { status } = pressure ?? {};
  if (pressure === undefined || status?.spare === undefined) return undefined;
  const { mode, memory, cpu } = status.spare;
  return { mode, isFresh: isHeard(pressure.name, status, ports), amounts: { memory, cpu } };
}

/**
 * Measured by the own clock: the clock of a node may be some seconds behind, and its room would come and go with each
 * report. A leader that begins gives an old report the benefit of the doubt once.
 */
function isHeard(name: string, { observedAt, agent }: NodePressureStatus, ports: NodePassPorts): boolean {
  const { heardAgents, clock, caches } = ports;
  const before = heardAgents.get(name);
  const isOld = before?.observedAt !== observedAt && !isFreshReport(observedAt, clock.now(), MAX_AGE_MS.otherwise);
  if (observedAt === undefined || isOld) return false;
  const signs = { observedAt, isReady: isAgentReady(caches.agents, name, agent?.pod ?? '') };
  const heard = hearAgent(before, signs, clock.monotonic());
  heardAgents.set(name, heard);
  return !isAgentSilent(heard, signs, clock.monotonic());
}

/** The pod that a report names counts on its own node only: an agent speaks for no other. */
function isAgentReady(agents: NodePassPorts['caches']['agents'], node: string, pod: string): boolean | undefined {
  if (pod === '') return undefined;
  const found = agents.get(`${NAMESPACE_NODE}/${pod}`);
  return found?.node === node && found.isReady;
}

async function carryOut({ node, plan }: Planned, ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  const write = () => writeOffer(ports.client, node, plan.offer, signal);
  const isWritten = await writeFenced(ports, { object: 'spare', name: node.name }, write, signal);
  if (!isWritten) return;
  ports.spareWrites.set(node.name, ports.clock.monotonic());
  ports.log.info({ ...plan.because.facts, code: plan.because.code }, 'Node offers other spare room');
}

/** A kubelet copies the capacity to allocatable; a node without one needs both. */
function writeOffer(
  client: KubeClient,
  { name, resourceVersion }: KnownNode,
  offer: SpareOffer,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const amounts = Object.fromEntries(SPARE_KINDS.map((kind) => [SPARE_RESOURCES[kind], textOf(offer[kind])]));
  const address = { resource: NODES, name, subresource: 'status', resourceVersion };
  return mergeAsRead(client, address, { status: { capacity: amounts, allocatable: amounts } }, signal);
}

/** Withdrawn by removing the key. */
function textOf(amount: number | undefined): string | null {
  return amount === undefined ? null : String(amount);
}
