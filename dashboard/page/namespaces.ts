/** One namespace: its pods that may be evicted next, its removed pods, and its share of quotas. */
import { html, nothing } from 'lit-html';
import { namespaceOf } from '#dashboard/views/redact.ts';
import type { Context, Page, PageOptions, Shown } from './context.ts';
import { badge, type Column, empty, nodeLink, panel, podLink, type Row, stateText, table } from './parts.ts';
import { quotaTable } from './priorities.ts';
import { entryList } from './timeline.ts';

export function namespacesPage(): Page {
  return { title: 'Namespaces', render: listView };
}

export function namespacePage({ name }: PageOptions): Page {
  return { title: `Namespace ${name}`, render: (context) => namespaceView(name, context) };
}

interface Counts {
  pods: number;
  entries: number;
  quotas: number;
}

function listView({ nodes, timeline, quotas }: Context): Shown {
  const counts = new Map<string, Counts>();
  const add = (namespace: string, what: keyof Counts): void => {
    if (namespace === '') return;
    const count = counts.get(namespace) ?? { pods: 0, entries: 0, quotas: 0 };
    count[what] += 1;
    counts.set(namespace, count);
  };
  for (const { pods } of nodes.values()) for (const pod of pods) add(namespaceOf(pod), 'pods');
  for (const { namespace } of timeline) add(namespace, 'entries');
  for (const { namespace, shares } of quotas)
    for (const each of [namespace, ...shares.map((share) => share.namespace)]) add(each, 'quotas');
  const columns: readonly Column[] = [
    ['', 'Namespace'],
    ['number', 'Pods in line for eviction or evicted'],
    ['number', 'Timeline entries'],
    ['number', 'Quotas used'],
  ];
  const rows = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { pods, entries, quotas: used }]): Row => [
      ['', html`<a class="pod" href=${`#/namespaces/${encodeURIComponent(name)}`}>${name}</a>`],
      ['number', pods],
      ['number', entries],
      ['number', used],
    ]);
  const body = rows.length === 0 ? empty('No namespace is concerned.') : table('Namespaces by name', columns, rows);
  return html`<div class="stack">${panel('Namespaces', body)}</div>`;
}

function namespaceView(name: string, { nodes, timeline, quotas, preemptions, now }: Context): Shown {
  const happened = timeline.filter(({ namespace }) => namespace === name);
  const gave = preemptions.filter(({ victim }) => victim.startsWith(`${name}/`)).length;
  const took = preemptions.filter(({ madeRoomFor }) => madeRoomFor.startsWith(`${name}/`)).length;
  return html`<div class="stack">
    <p class="back"><a href="#/namespaces">← All namespaces</a></p>
    <section class="headline">
      <p class="title" aria-hidden="true">${name}</p>
      <div class="badges">${badge(`${gave} preempted`)} ${badge(`${took} preemptions for its pods`)}</div>
    </section>
    ${inLine(name, nodes)} ${quotaPanel(name, quotas)} ${panel('What happened', entryList(happened, now))}
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
        ['', stateText(node.state)],
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
