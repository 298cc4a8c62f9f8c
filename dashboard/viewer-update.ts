import type { Viewer } from './access/viewer.ts';
import type { DashboardSources } from './sources.ts';
import { type History, newerThan } from './views/history.ts';
import { nodeSummary } from './views/node-view.ts';
import { namespaceOf, redactNode, redactQueues, redactQuotas, redactSummary, redactTimeline } from './views/redact.ts';
import type { ClassView, NodeSummary, NodeView, QueueView, QuotaView, TimelineEntry, View } from './views/view.ts';

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
  /** With that node: the readings since the last update, at first all. */
  readonly history?: History;
  readonly timeline?: readonly TimelineEntry[];
  /** What happened on the node whose page is open. */
  readonly nodeTimeline?: readonly TimelineEntry[];
  readonly classes?: readonly ClassView[];
  readonly quotas?: readonly QuotaView[];
  readonly queues?: readonly QueueView[];
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
  const nodeTimeline = page.node === undefined ? undefined : sources.nodeTimeline(page.node, now);
  const [quotas, queues] = [sources.quotas(), sources.queues()];
  if (!viewer.seesAll)
    await viewer.learn(namespacesIn({ nodes, timeline: [...timeline, ...(nodeTimeline ?? [])], quotas, queues }));
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
    ...(isNew(sent, 'nodeTimeline', nodeTimeline) &&
      nodeTimeline && { nodeTimeline: viewer.seesAll ? nodeTimeline : redactTimeline(nodeTimeline, viewer.maySee) }),
    ...(isNew(sent, 'classes', sources.classes()) && { classes: sources.classes() }),
    ...(isNew(sent, 'quotas', quotas) && { quotas: redactQuotas(quotas, viewer.maySee) }),
    ...(isNew(sent, 'queues', queues) && { queues: viewer.seesAll ? queues : redactQueues(queues, viewer.maySee) }),
  };
}

/** Everything at once, for programs. */
export async function wholeView(viewer: Viewer, sources: DashboardSources, now: number): Promise<View> {
  const { maySee, seesAll } = viewer;
  const [nodes, timeline] = [sources.nodes(now), sources.timeline(now)];
  const [quotas, queues] = [sources.quotas(), sources.queues()];
  if (!seesAll) await viewer.learn(namespacesIn({ nodes, timeline, quotas, queues }));
  return {
    at: now,
    nodes: seesAll ? nodes : nodes.map((node) => redactNode(node, maySee)),
    timeline: seesAll ? timeline : redactTimeline(timeline, maySee),
    classes: sources.classes(),
    quotas: redactQuotas(quotas, maySee),
    queues: seesAll ? queues : redactQueues(queues, maySee),
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
  const node = nodes.find((each) => each.name === name) ?? null;
  if (!isNew(sent, 'node', node)) return {};
  const shown = node === null || viewer.seesAll ? node : redactNode(node, viewer.maySee);
  return { node: shown, history: newReadings(sent, sources.history(name)) };
}

function newReadings(sent: Map<string, unknown>, history: History): History {
  const last = sent.get('history');
  const newer = newerThan(history, typeof last === 'number' ? last : -Infinity);
  sent.set('history', newer.times.at(-1) ?? last);
  return newer;
}

function isNew(sent: Map<string, unknown>, key: string, value: unknown): boolean {
  if (sent.has(key) && sent.get(key) === value) return false;
  sent.set(key, value);
  return true;
}

function namespacesIn({
  nodes,
  timeline,
  quotas,
  queues,
}: Pick<View, 'nodes' | 'timeline' | 'quotas' | 'queues'>): readonly string[] {
  return [
    ...nodes.flatMap(namespacesOf),
    ...timeline.map(({ namespace }) => namespace),
    ...quotas.map(({ namespace }) => namespace),
    ...queues.flatMap(({ evicted }) => evicted.map(({ pod }) => namespaceOf(pod))),
  ];
}

function namespacesOf({ pods, avoided }: NodeView): readonly string[] {
  return [...pods, ...avoided.map(({ owner }) => owner)].map(namespaceOf);
}
