import type { Viewer } from './access/viewer.ts';
import type { DashboardSources } from './sources.ts';
import { type History, newerThan } from './views/history.ts';
import { nodeSummary } from './views/node-view.ts';
import {
  type MaySee,
  namespaceOf,
  redactNode,
  redactPreemptions,
  redactQueues,
  redactQuotas,
  redactSummary,
  redactTimeline,
} from './views/redact.ts';
import type { NodeSummary, NodeView, TimelineEntry, View } from './views/view.ts';

/** Data that all pages show, whichever node is open. */
type Sections = Omit<View, 'at' | 'nodes'>;

/** The changes since the last update of one open page; unchanged sections are left out. */
export interface Update extends Partial<Sections> {
  readonly at: number;
  readonly isLimited: boolean;
  /** New or changed rows. */
  readonly nodes: readonly NodeSummary[];
  /** Names of removed nodes. */
  readonly gone: readonly string[];
  /** The node whose page is open; null if it does not exist. */
  readonly node?: NodeView | null;
  /** With that node: the readings since the last update; all of them at first. */
  readonly history?: History;
  /** The timeline of that node. */
  readonly nodeTimeline?: readonly TimelineEntry[];
}

/** One open page: its viewer, its node, and the data that was sent. */
export interface OpenPage {
  readonly viewer: Viewer;
  readonly node: string | undefined;
  readonly sent: Map<string, unknown>;
}

/** The next update of a page; remembers what it sends. `now` is in milliseconds since 1970. */
export async function nextUpdate(page: OpenPage, sources: DashboardSources, now: number): Promise<Update> {
  const { viewer, sent } = page;
  const { seesAll, maySee } = viewer;
  const [nodes, sections] = [sources.nodes(now), sectionsOf(sources, now)];
  const nodeTimeline = page.node === undefined ? [] : sources.nodeTimeline(page.node, now);
  if (!seesAll)
    await viewer.learn(namespacesIn({ ...sections, nodes, timeline: [...sections.timeline, ...nodeTimeline] }));
  const rows = changedRows(sent, nodes);
  const changed = new Set(Object.entries(sections).flatMap(([name, value]) => (isNew(sent, name, value) ? name : [])));
  const shown = seesAll ? sections : redactSections(sections, maySee);
  return {
    at: now,
    isLimited: !seesAll,
    nodes: seesAll ? rows : rows.map((row) => redactSummary(row, maySee)),
    gone: goneNames(sent, nodes),
    ...openNode(page, nodes, sources),
    ...openTimeline(page, nodeTimeline),
    ...Object.fromEntries(Object.entries(shown).filter(([name]) => changed.has(name))),
  };
}

/** The full data at once, for programs. */
export async function wholeView(viewer: Viewer, sources: DashboardSources, now: number): Promise<View> {
  const { maySee, seesAll } = viewer;
  const [nodes, sections] = [sources.nodes(now), sectionsOf(sources, now)];
  if (!seesAll) await viewer.learn(namespacesIn({ ...sections, nodes }));
  const shown = seesAll ? sections : redactSections(sections, maySee);
  return { at: now, nodes: seesAll ? nodes : nodes.map((node) => redactNode(node, maySee)), ...shown };
}

function sectionsOf(sources: DashboardSources, now: number): Sections {
  return {
    timeline: sources.timeline(now),
    classes: sources.classes(),
    quotas: sources.quotas(),
    queues: sources.queues(),
    preemptions: sources.preemptions(),
    policies: sources.policies(),
    nodePolicies: sources.nodePolicies(now),
  };
}

/** Classes and policies do not name pods, so users who may read NodePressures may read them. */
function redactSections({ timeline, quotas, queues, preemptions, ...rest }: Sections, maySee: MaySee): Sections {
  return {
    ...rest,
    timeline: redactTimeline(timeline, maySee),
    quotas: redactQuotas(quotas, maySee),
    queues: redactQueues(queues, maySee),
    preemptions: redactPreemptions(preemptions, maySee),
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

function openTimeline(
  { viewer, node, sent }: OpenPage,
  timeline: readonly TimelineEntry[],
): Pick<Update, 'nodeTimeline'> {
  if (node === undefined || !isNew(sent, 'nodeTimeline', timeline)) return {};
  return { nodeTimeline: viewer.seesAll ? timeline : redactTimeline(timeline, viewer.maySee) };
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

function namespacesIn({ nodes, timeline, quotas, queues, preemptions }: Omit<View, 'at'>): readonly string[] {
  const named = [
    ...nodes.flatMap(({ pods, avoided }) => [...pods, ...avoided.map(({ owner }) => owner)]),
    ...queues.flatMap(({ evicted }) => evicted.map(({ pod }) => pod)),
    ...preemptions.map(({ victim }) => victim),
    ...quotas.flatMap(({ reservations }) => reservations.map(({ pod }) => pod)),
  ];
  return [
    ...named.map(namespaceOf),
    ...timeline.map(({ namespace }) => namespace),
    ...quotas.flatMap(({ namespace, shares }) => [namespace, ...shares.map((share) => share.namespace)]),
  ];
}
