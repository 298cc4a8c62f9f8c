import { isFresh } from '#shared/api/node-pressure.ts';
import { nodeSettingsIn, selectPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import { simulateSpare } from '#shared/decide/spare/simulate-spare.ts';
import { readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import { nodeAmount } from '#shared/domain/spare/spare-amounts.ts';
import type { SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import { NODE_PRESSURE_POLICIES, NODE_PRESSURES, NODES } from '#shared/kube/resource.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { type ListCommandOptions, showList, tellIfEmpty } from '#cli/cluster/show-list.ts';
import type { Metadata } from '#cli/output/answer.ts';
import type { Listing } from '#cli/output/listing.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { NOTHING_MEASURED } from './messages.ts';

/** Settings that replace those of each node's policy; shares are from 0 to 1. */
export interface SpareOptions extends ListCommandOptions {
  readonly percentile?: number;
  readonly margin?: number;
  readonly max?: number;
}

interface SpareRow {
  readonly metadata: Metadata;
  /** What the agent lends by the settings in force. */
  readonly lendable: number;
  readonly simulated: number;
  readonly exceededPercent: number;
  readonly reason: string;
}

/** Carries out `plimsoll simulate spare`. */
export async function runSpare({ percentile, margin, max, ...options }: SpareOptions, io: ProcessIo): Promise<void> {
  const given = Object.entries({ percentile, margin, max }).filter(([, value]) => value !== undefined);
  const listing = (read: ClusterManifests) => spareList(read, Object.fromEntries(given));
  const resources = [NODE_PRESSURES, NODES, NODE_PRESSURE_POLICIES] as const;
  await showList({ resources, listing }, options, io, (_, list) => {
    tellIfEmpty(list, NOTHING_MEASURED, options, io);
  });
}

function spareList(read: ClusterManifests, given: Partial<SpareSettings>): Listing<SpareRow> {
  return {
    kind: 'SpareSimulation',
    rows: rowsOf(read, given),
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `node/${metadata.name}`,
    columns: [
      { header: 'NAME', cell: ({ metadata }) => metadata.name },
      { header: 'LENDABLE', cell: ({ lendable }) => readableBytes(lendable) },
      { header: 'SIMULATED', cell: ({ simulated }) => readableBytes(simulated) },
      { header: 'EXCEEDED', cell: ({ exceededPercent }) => `${exceededPercent.toFixed(1)}%` },
      { header: 'REASON', cell: ({ reason }) => reason },
    ],
  };
}

function rowsOf(read: ClusterManifests, given: Partial<SpareSettings>): readonly SpareRow[] {
  const { pressures, nodes, policies } = clusterModel(read);
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return pressures.flatMap(({ name, status }) => {
    const node = byName.get(name);
    if (!isFresh(status, read.now)) return [];
    const allocatable = nodeAmount(node?.allocatable, 'memory');
    const { spare } = nodeSettingsIn(selectPolicy(policies, node?.labels ?? new Map()));
    const simulated = simulateSpare(status, allocatable, { ...spare, ...given }, read.now);
    if (simulated === undefined) return [];
    const { lendable, exceededPercent, because } = simulated;
    const now = status.spare?.memory.lendable ?? 0;
    return [{ metadata: { name }, lendable: now, simulated: lendable, exceededPercent, reason: because.text }];
  });
}
