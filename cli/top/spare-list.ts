import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import type { SpareEntry } from '#shared/api/spare-status.ts';
import { ageText, compareTexts } from '#shared/domain/base/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { spareAmountText } from '#shared/domain/spare/spare-amounts.ts';
import type { SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { idleOf } from '#shared/domain/spare/spare-sums.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import type { Listing } from '#cli/output/listing.ts';
import type { Metadata } from '#cli/output/answer.ts';

/** The nodes with what could be lent of a resource, and is; those that waste most come first. */
export function spareList(read: ClusterManifests, kind: SpareKind): Listing<SpareRow> {
  const amount = (header: string, of: (row: SpareRow) => number) => ({
    header,
    cell: (row: SpareRow) => spareAmountText(kind, of(row)),
  });
  return {
    kind: 'SpareSummary',
    rows: spareRows(clusterModel(read).pressures, kind, read.now),
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `node/${metadata.name}`,
    columns: [
      { header: 'NAME', cell: ({ metadata }) => metadata.name },
      { header: 'MODE', cell: ({ mode }) => mode },
      amount('REQUESTED', ({ requested }) => requested),
      amount('USED', ({ used }) => used),
      amount('P99', ({ p99 }) => p99),
      amount('LENDABLE', ({ lendable }) => lendable),
      amount('LENT', ({ lent }) => lent),
      amount('TAKEN', ({ taken }) => taken),
      { header: 'HISTORY', cell: ({ since }) => ageText(since, read.now), isAge: true },
      { ...amount('MEDIAN', ({ median }) => median), isWide: true },
      { ...amount('HIGHEST', ({ highest }) => highest), isWide: true },
      { header: 'REASON', cell: ({ because }) => because.text, isWide: true },
    ],
  };
}

interface SpareRow extends SpareEntry {
  readonly metadata: Metadata;
  readonly mode: string;
  readonly since: Instant | undefined;
}

/** Only of agents that report. */
function spareRows(pressures: readonly NodePressure[], kind: SpareKind, now: Instant): readonly SpareRow[] {
  const rows = pressures.flatMap(({ name, status }) => {
    if (!isFresh(status, now) || status.spare === undefined) return [];
    const { mode, since } = status.spare;
    return [{ metadata: { name }, mode, since, ...status.spare[kind] }];
  });
  return rows.toSorted((a, b) => idleOf(b) - idleOf(a) || compareTexts(a.metadata.name, b.metadata.name));
}
