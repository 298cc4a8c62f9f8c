/** All namespaces, and one: its pods that wait or may be evicted next, what happened to it, and its share of quotas. */
import { html, nothing } from 'lit-html';
import type { Overview } from '#dashboard/pods/overview.ts';
import { namespaceOf } from '#dashboard/views/redact.ts';
import { isRemoval } from '#dashboard/views/view.ts';
import type { Context, Page, PageOptions, Shown } from './context.ts';
import { shownState } from './format.ts';
import { badge, type Cell, type Column, empty, nodeLink, panel, podLink, type Row, stateText, table } from './parts.ts';
import { overviewPage, pendingPanel, type ReadOverview } from './pending-pods.ts';
import { isProblem } from './polled.ts';
import { quotaTable } from './priorities.ts';
import { entryList } from './timeline.ts';

export function namespacesPage({ redraw }: PageOptions): Page {
  return overviewPage('Namespaces', redraw, listView);
}

export function namespacePage({ name, redraw }: PageOptions): Page {
  return overviewPage(`Namespace ${name}`, redraw, (context, overview) => namespaceView(name, context, overview));
}

const COLUMNS: readonly Column[] = [
  ['', 'Namespace'],
  ['number', 'Waiting pods'],
  ['number', 'Refusals'],
  ['number', 'Removed pods'],
  ['number', 'Pods in line for eviction'],
  ['number', 'Quotas used'],
];
const NOTHING = { waiting: 0, refused: 0, removed: 0, inLine: 0, quotas: 0 };
type Counts = typeof NOTHING;

function listView(context: Context, overview: ReadOverview): Shown {
  const read = overview === undefined || isProblem(overview) ? undefined : overview;
  const rows = [...countsOf(context, read)].sort(([a], [b]) => (a < b ? -1 : 1)).map(countRow);
  const body = rows.length === 0 ? empty('No namespace was read yet.') : table('Namespaces by name', COLUMNS, rows);
  const problem = overview !== undefined && isProblem(overview) ? [overview.message] : (read?.notes ?? []);
  const notes = problem.length === 0 ? nothing : html`<p class="quiet small">${problem.join('; ')}</p>`;
  return html`<div class="stack">${panel('Namespaces', body, notes)}</div>`;
}

function countRow([name, { waiting, refused, removed, inLine: inLineNow, quotas }]: readonly [string, Counts]): Row {
  return [
    ['', html`<a class="pod" href=${`#/namespaces/${encodeURIComponent(name)}`}>${name}</a>`],
    ...[waiting, refused, removed, inLineNow, quotas].map((count): Cell => ['number', count]),
  ];
}

/** All namespaces that are known, also those without a pod in any decision. */
function countsOf(context: Context, overview: Overview | undefined): ReadonlyMap<string, Counts> {
  const counts = new Map((overview?.namespaces ?? []).map((name) => [name, { ...NOTHING }]));
  for (const [namespace, what] of mentions(context, overview?.pending ?? [])) {
    const count = counts.get(namespace) ?? { ...NOTHING };
    count[what] += 1;
    if (namespace !== '') counts.set(namespace, count);
  }
  return counts;
}

function mentions({ nodes, timeline, quotas }: Context, pending: Overview['pending']): readonly Mention[] {
  const inLine = [...nodes.values()].flatMap(({ pods }) => pods);
  const charged = quotas.flatMap(({ namespace, shares }) => [namespace, ...shares.map((share) => share.namespace)]);
  return [
    ...pending.map(({ pod }): Mention => [namespaceOf(pod), 'waiting']),
    ...inLine.map((pod): Mention => [namespaceOf(pod), 'inLine']),
    ...timeline.flatMap((entry): readonly Mention[] => {
      if (entry.kind === 'refusal') return [[entry.namespace, 'refused']];
      return isRemoval(entry.kind) && !entry.isDryRun ? [[entry.namespace, 'removed']] : [];
    }),
    ...charged.map((namespace): Mention => [namespace, 'quotas']),
  ];
}

type Mention = readonly [namespace: string, what: keyof Counts];

function namespaceView(
  name: string,
  { nodes, timeline, quotas, preemptions, now }: Context,
  overview: ReadOverview,
): Shown {
  const happened = timeline.filter(({ namespace }) => namespace === name);
  const gave = preemptions.filter(({ victim }) => victim.startsWith(`${name}/`)).length;
  const took = preemptions.filter(({ madeRoomFor }) => madeRoomFor.startsWith(`${name}/`)).length;
  return html`<div class="stack">
    <p class="back"><a href="#/namespaces">← All namespaces</a></p>
    <section class="headline">
      <p class="title" aria-hidden="true">${name}</p>
      <div class="badges">${badge(`${gave} preempted`)} ${badge(`${took} preemptions for its pods`)}</div>
    </section>
    ${pendingPanel(overview, ({ pod }) => namespaceOf(pod) === name, now)} ${inLine(name, nodes)}
    ${quotaPanel(name, quotas)} ${panel('What happened', entryList(happened, now))}
  </div>`;
}

/** Nodes on which pods of the namespace were evicted, or may be evicted next. */
function inLine(name: string, nodes: Context['nodes']): Shown {
  const rows = [...nodes.values()].flatMap((node): readonly Row[] => {
    const pods = node.pods.filter((pod) => pod.startsWith(`${name}/`));
    if (pods.length === 0) return [];
    const isNext = node.next?.startsWith(`${name}/`) ?? false;
    return [
      [
        ['', nodeLink(node.name)],
        ['', stateText(shownState(node))],
        ['', node.mode === 'DryRun' ? 'dry run' : node.mode],
        ['', html`${pods.map((pod) => html`<div>${podLink(pod)}</div>`)}`],
        ['', isNext ? badge('next to be evicted', 'strong') : nothing],
      ],
    ];
  });
  const columns: readonly Column[] = [
    ['', 'Node'],
    ['', 'State'],
    ['', 'Mode'],
    ['', 'Pods in line or evicted'],
    ['', 'Next'],
  ];
  const title = 'Pods in line for eviction';
  if (rows.length === 0) return panel(title, empty('No pod of this namespace is in line for eviction.'));
  return panel(title, table('Nodes with pods of this namespace that may be evicted', columns, rows));
}

function quotaPanel(name: string, quotas: Context['quotas']): Shown {
  const own = quotas.filter(({ namespace }) => namespace === name);
  const shares = quotas.flatMap(({ name: quota, shares: all }) =>
    all
      .filter(({ namespace }) => namespace === name)
      .map(({ amounts }): Row => [
        ['pod', quota],
        ['', amounts],
      ]),
  );
  const columns: readonly Column[] = [
    ['', 'PriorityQuota'],
    ['', 'Used by this namespace'],
  ];
  if (own.length + shares.length === 0) return panel('Quotas', empty('No quota by priority counts this namespace.'));
  return panel(
    'Quotas',
    own.length === 0 ? nothing : quotaTable(own),
    shares.length === 0 ? nothing : table('Shares of quotas across namespaces', columns, shares),
  );
}
