import type { Viewer } from './access/viewer.ts';
import type { DashboardSources } from './sources.ts';
import type { History } from './views/history.ts';
import { nodeSummary } from './views/node-view.ts';
import { namespaceOf, redactNode, redactQuotas, redactSummary, redactTimeline } from './views/redact.ts';
import type { ClassView, NodeSummary, NodeView, QuotaView, TimelineEntry, View } from './views/view.ts';

/** What changed since the last update of one open page; a section that did not change is left out. */
export interface Update {
  readonly at: number;
  readonly isLimited: boolean;
  /** Rows that are new or changed. */
  readonly nodes: readonly NodeSummary[];
  /** Names of nodes that are gone. */
  readonly gone: readonly string[];
  /** The node whose page is open; null where there is no such node. */
  readonly node?: NodeView | null;
  /** With the first view of that node. */
  readonly history?: History;
  readonly timeline?: readonly TimelineEntry[];
  readonly classes?: readonly ClassView[];
  readonly quotas?: readonly QuotaView[];
}

/** One open page: who reads it, whose node it shows, and what it was sent. */
export interface OpenPage {
  readonly viewer: Viewer;
  readonly node: string | undefined;
  readonly sent: Map<string, unknown>;
}

/** The next update of a page; remembers what it sends. `now` is in milliseconds since 1970. */
export async function nextUpdate(page: OpenPage, sources: DashboardSources, now: number): Promise<Update> {
  const { viewer, sent } = page;
  const nodes = sources.nodes(now);
  const timeline = sources.timeline(now);
  const quotas = sources.quotas();
  if (!viewer.seesAll) await viewer.learn(namespacesIn(nodes, page.node, { timeline, quotas }));
  const rows = changedRows(sent, nodes);
  return {
    at: now,
    isLimited: !viewer.seesAll,
    nodes: viewer.seesAll ? rows : rows.map((row) => redactSummary(row, viewer.maySee)),
    gone: goneNames(sent, nodes),
    ...openNode(page, nodes, sources),
    ...(isNew(sent, 'timeline', timeline) && {
      timeline: viewer.seesAll ? timeline : redactTimeline(timeline, viewer.maySee),
    }),
    ...(isNew(sent, 'classes', sources.classes()) && { classes: sources.classes() }),
    ...(isNew(sent, 'quotas', quotas) && { quotas: redactQuotas(quotas, viewer.maySee) }),
  };
}

/** Everything at once, for programs. */
export async function wholeView(viewer: Viewer, sources: DashboardSources, now: number): Promise<View> {
  const { maySee, seesAll } = viewer;
  const [nodes, timeline, quotas] = [sources.nodes(now), sources.timeline(now), sources.quotas()];
  if (!seesAll)
    await viewer.learn(nodes.flatMap((node) => namespacesOf(node)).concat(namespacesIn([], '', { timeline, quotas })));
  return {
    at: now,
    nodes: seesAll ? nodes : nodes.map((node) => redactNode(node, maySee)),
    timeline: seesAll ? timeline : redactTimeline(timeline, maySee),
    classes: sources.classes(),
    quotas: redactQuotas(quotas, maySee),
  };
}

const ROW = 'row/';

function changedRows(sent: Map<string, unknown>, nodes: readonly NodeView[]): readonly NodeSummary[] {
  return nodes.filter((node) => isNew(sent, ROW + node.name, node)).map(nodeSummary);
}

function goneNames(sent: Map<string, unknown>, nodes: readonly NodeView[]): readonly string[] {
  const names = new Set(nodes.map(({ name }) => ROW + name));
  const gone = [...sent.keys()].filter((key) => key.startsWith(ROW) && !names.has(key));
  for (const key of gone) sent.delete(key);
  return gone.map((key) => key.slice(ROW.length));
}

function openNode(
  { viewer, node: name, sent }: OpenPage,
  nodes: readonly NodeView[],
  sources: DashboardSources,
): Pick<Update, 'node' | 'history'> {
  if (name === undefined) return {};
  const isFirst = !sent.has('node');
  const node = nodes.find((each) => each.name === name) ?? null;
  if (!isNew(sent, 'node', node)) return {};
  const shown = node === null || viewer.seesAll ? node : redactNode(node, viewer.maySee);
  return { node: shown, ...(isFirst && { history: sources.history(name) }) };
}

function isNew(sent: Map<string, unknown>, key: string, value: unknown): boolean {
  if (sent.has(key) && sent.get(key) === value) return false;
  sent.set(key, value);
  return true;
}

function namespacesIn(
  nodes: readonly NodeView[],
  open: string | undefined,
  { timeline, quotas }: Pick<View, 'timeline' | 'quotas'>,
): readonly string[] {
  return [
    ...nodes.flatMap((node) => (node.name === open ? namespacesOf(node) : namespaceOf(node.next ?? ''))),
    ...timeline.map(({ namespace }) => namespace),
    ...quotas.map(({ namespace }) => namespace),
  ];
}

function namespacesOf({ candidates, evictions, avoided }: NodeView): readonly string[] {
  return [...candidates, ...evictions]
    .map(({ pod }) => namespaceOf(pod))
    .concat(avoided.map(({ owner }) => namespaceOf(owner)));
}
