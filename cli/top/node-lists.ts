import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';
import { ageText } from '#shared/domain/model/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { clusterModel } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import type { Listing } from '#cli/output/listing.ts';
import { UNKNOWN } from './messages.ts';
import { type NodeRow, nodeRows, type PodRow, podRows } from './top-rows.ts';

/** Which nodes or pods are shown; all where nothing is said. */
export interface Shown {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly selector?: Selector | undefined;
}

/** The nodes with what their agents report. */
export function nodeList(read: ClusterManifests, { name, selector }: Shown): Listing<NodeRow> {
  const { pressures, nodes } = clusterModel(read);
  const selected = selector && new Set(nodes.filter(({ labels }) => selector.matches(labels)).map((node) => node.name));
  const rows = nodeRows(pressures, read.now).filter(
    ({ metadata }) => (name ?? metadata.name) === metadata.name && (selected?.has(metadata.name) ?? true),
  );
  return {
    kind: 'NodeSummary',
    rows,
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `node/${metadata.name}`,
    columns: nodeColumns(read.now),
  };
}

/** As with kubectl, the columns of `-o wide` stand behind the age. */
function nodeColumns(now: Instant): Listing<NodeRow>['columns'] {
  return [
    { header: 'NAME', cell: ({ metadata }) => metadata.name },
    { header: 'MODE', cell: ({ mode }) => mode },
    { header: 'STATE', cell: ({ state }) => state },
    { header: 'SIGNAL', cell: ({ signal }) => signal },
    { header: 'AVAILABLE', cell: ({ available }) => amountText(available) },
    { header: 'THRESHOLD', cell: ({ threshold }) => amountText(threshold) },
    { header: 'NEXT', cell: ({ next = '<none>' }) => next },
    { header: 'AGE', cell: (row) => observedAge(row, now), isAge: true },
    { header: 'CAPACITY', cell: ({ capacity }) => amountText(capacity), isWide: true },
    { header: 'POLICY', cell: ({ policy = '<none>' }) => policy, isWide: true },
    { header: 'VERSION', cell: ({ version = UNKNOWN }) => version, isWide: true },
  ];
}

/** The pods that would be evicted next on each node. */
export function podList(read: ClusterManifests, { namespace, selector }: Shown): Listing<PodRow> {
  const { pressures, pods } = clusterModel(read);
  const selected =
    selector &&
    new Set(pods.filter(({ labels }) => selector.matches(labels)).map((pod) => `${pod.namespace}/${pod.name}`));
  const rows = podRows(pressures, read.now).filter(
    ({ metadata }) =>
      (namespace ?? metadata.namespace) === metadata.namespace &&
      (selected?.has(`${metadata.namespace ?? ''}/${metadata.name}`) ?? true),
  );
  return {
    kind: 'EvictionCandidate',
    rows,
    itemOf: (row) => row,
    nameOf: ({ metadata }) => `pod/${metadata.name}`,
    columns: podColumns(read.now),
  };
}

/** Free text stands last, as in `kubectl get events`. */
function podColumns(now: Instant): Listing<PodRow>['columns'] {
  return [
    { header: 'NAMESPACE', cell: ({ metadata }) => metadata.namespace ?? '' },
    { header: 'NAME', cell: ({ metadata }) => metadata.name },
    { header: 'NODE', cell: ({ node }) => node },
    { header: 'POSITION', cell: ({ position }) => String(position) },
    { header: 'PRIORITY', cell: ({ priority = 0 }) => String(priority) },
    { header: 'USAGE', cell: ({ usage }) => amountText(usage) },
    { header: 'REQUEST', cell: ({ request }) => amountText(request) },
    { header: 'AGE', cell: (row) => observedAge(row, now), isAge: true },
    { header: 'REASON', cell: ({ reason }) => reason },
  ];
}

/** Nodes whose agent has been silent. */
export function silentNodes(pressures: readonly NodePressure[], now: Instant): readonly string[] {
  return nodeRows(pressures, now)
    .filter(({ state }) => state === 'Unknown')
    .map(({ metadata }) => metadata.name);
}

function observedAge({ observedAt }: Pick<NodeRow, 'observedAt'>, now: Instant): string {
  return ageText(observedAt === undefined ? undefined : Date.parse(observedAt), now);
}

function amountText(amount: string | undefined): string {
  return amount === undefined ? UNKNOWN : readableAmount(amount);
}
