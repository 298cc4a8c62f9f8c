/** Which nodes are shown, and in which order. The address holds all of it. */

import type { NodeSummary } from '#dashboard/views/view.ts';
import { shownState, STATES } from './format.ts';

type Compare = (a: NodeSummary, b: NodeSummary) => number;

const COMPARE = {
  name: (a, b) => (a.name < b.name ? -1 : 1),
  state: (a, b) => rank(a) - rank(b) || headroom(a) - headroom(b),
  memory: (a, b) => (b.usedRatio ?? -1) - (a.usedRatio ?? -1),
  headroom: (a, b) => urgency(a) - urgency(b) || enforcing(a) - enforcing(b) || headroom(a) - headroom(b),
  next: (a, b) => text(a.next).localeCompare(text(b.next)),
  seen: (a, b) => (a.observedAt ?? 0) - (b.observedAt ?? 0),
} satisfies Readonly<Record<string, Compare>>;

export type SortColumn = keyof typeof COMPARE;

/** What meets a threshold comes first, in every mode. */
function urgency({ state }: NodeSummary): number {
  return state === 'Hard' ? 0 : state === 'Soft' ? 1 : 2;
}

function rank(node: NodeSummary): number {
  return Object.keys(STATES).indexOf(shownState(node));
}

/** Nodes in Enforce mode come before nodes in DryRun mode. */
function enforcing({ mode }: NodeSummary): number {
  return mode === 'Enforce' ? 0 : 1;
}

/** Nodes without data come last. */
function headroom({ headroomRatio }: NodeSummary): number {
  return headroomRatio ?? Number.MAX_VALUE;
}

/** Missing values come last. */
function text(value: string | undefined): string {
  return value === undefined || value === '' ? '\uffff' : value;
}

export const DEFAULT_SORT: SortColumn = 'headroom';

/** The sort column and direction in an address. */
export function orderOf(params: URLSearchParams): { readonly column: SortColumn; readonly isReversed: boolean } {
  const column = params.get('sort') ?? '';
  return { column: isColumn(column) ? column : DEFAULT_SORT, isReversed: params.get('order') === 'desc' };
}

function isColumn(name: string): name is SortColumn {
  return Object.hasOwn(COMPARE, name);
}

/** The nodes that an address selects, in its order. */
export function selectedNodes(
  nodes: ReadonlyMap<string, NodeSummary>,
  params: URLSearchParams,
): readonly NodeSummary[] {
  const { column, isReversed } = orderOf(params);
  const shown = [...nodes.values()].filter(filterOf(params));
  shown.sort((a, b) => COMPARE[column](a, b) || COMPARE.name(a, b));
  return isReversed ? shown.reverse() : shown;
}

function filterOf(params: URLSearchParams): (node: NodeSummary) => boolean {
  const states = (params.get('state') ?? '').split(',').filter(Boolean);
  const [mode, policy, pod] = [wanted(params, 'mode'), wanted(params, 'policy'), wanted(params, 'pod')];
  const [namespace, words] = [wanted(params, 'namespace'), wanted(params, 'text')];
  const filters: readonly [isOn: boolean, keeps: (node: NodeSummary) => boolean][] = [
    [states.length > 0, (node) => states.includes(shownState(node))],
    [mode !== '', (node) => node.mode.toLowerCase() === mode],
    [policy !== '', (node) => node.policy.toLowerCase() === policy],
    [params.get('evicting') === 'true', (node) => node.evicting > 0],
    [pod !== '', (node) => node.pods.some((each) => each.toLowerCase().includes(pod))],
    [namespace !== '', (node) => node.pods.some((each) => each.split('/')[0] === namespace)],
    [words !== '', (node) => searched(node).includes(words)],
  ];
  const used = filters.flatMap(([isOn, keeps]) => (isOn ? keeps : []));
  return (node) => used.every((keeps) => keeps(node));
}

function wanted(params: URLSearchParams, name: string): string {
  return (params.get(name) ?? '').trim().toLowerCase();
}

function searched(node: NodeSummary): string {
  const { name, mode, next, signals, troubles } = node;
  return [name, shownState(node), mode, next ?? '', ...signals, ...troubles].join(' ').toLowerCase();
}
