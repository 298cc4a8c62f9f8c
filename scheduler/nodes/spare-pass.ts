import { isFreshReport, MAX_AGE_MS } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { planSpare, type SpareOffer, type SparePlan, type SpareReport } from '#shared/domain/nodes/plan-spare.ts';
import { SPARE_KINDS, SPARE_RESOURCES } from '#shared/domain/spare/spare-resources.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODES } from '#shared/kube/resource.ts';
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
function forgetGone({ caches, spareWrites, spareReports }: NodePassPorts): void {
  for (const known of [spareWrites, spareReports])
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
  const { spare, observedAt } = pressure?.status ?? {};
  if (pressure === undefined || spare === undefined) return undefined;
  const { mode, memory, cpu } = spare;
  return { mode, isFresh: isHeard(pressure.name, observedAt, ports), amounts: { memory, cpu } };
}

/** An agent that has not reported for so long is silent. */
const SILENT_MS = 60_000;

/**
 * Measured by the own clock from when a report was first seen: the clock of a node may be some seconds behind, and its
 * room would come and go with each report. A leader that begins gives an old report the benefit of the doubt once.
 */
function isHeard(name: string, observedAt: Instant | undefined, { spareReports, clock }: NodePassPorts): boolean {
  if (!isFreshReport(observedAt, clock.now(), MAX_AGE_MS.otherwise)) return false;
  const seen = spareReports.get(name);
  if (seen?.observedAt === observedAt) return clock.monotonic() - (seen?.seenAtMs ?? -Infinity) <= SILENT_MS;
  spareReports.set(name, { observedAt, seenAtMs: clock.monotonic() });
  return true;
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
