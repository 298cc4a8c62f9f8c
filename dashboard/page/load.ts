/** How far each node is loaded: what pods request and use of it, and what of the rest is lent. */
import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { SPARE_KINDS, type SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { spareSums } from '#shared/domain/spare/spare-sums.ts';
import { loadAmount, loadShares, loadText, type NodeLoad, nodeLoads } from '#dashboard/views/load.ts';
import type { Context, Page, Shown } from './context.ts';
import {
  badge,
  choice,
  type Column,
  empty,
  field,
  filters,
  legend,
  markedBar,
  nodeLink,
  type Option,
  panel,
  type Row,
  table,
} from './parts.ts';

const MAX_LINES = 200;
const TITLES: Readonly<Record<SpareKind, string>> = { memory: 'Memory', cpu: 'CPU' };
const SUM_TITLES: Readonly<Record<SpareKind, string>> = { memory: 'Memory', cpu: 'CPU, cores' };
const OPTIONS = SPARE_KINDS.map((kind): Option => [kind === 'memory' ? '' : kind, TITLES[kind]]);
const LINES = ['p99', 'requested', 'lent'] as const;
const LEGEND = [
  ['used', 'used now, without spare pods'],
  ['lendable', 'lendable beyond that'],
  ['p99', '99th percentile of use'],
  ['requested', 'requested'],
  ['lent', 'end of what is lent'],
] as const;
const SUMS: readonly Column[] = [
  ['', 'Resource'],
  ['number', 'Requested'],
  ['number', 'Not used'],
  ['number', 'Lendable'],
  ['number', 'Lent'],
  ['number', 'Taken by spare pods'],
];

export function loadPage(): Page {
  return { title: 'How far is this cluster loaded?', render: loadView };
}

function loadView({ nodes, params, setParams }: Context): Shown {
  const kind = params.get('resource') === 'cpu' ? 'cpu' : 'memory';
  const loads = { memory: nodeLoads(nodes.values(), 'memory'), cpu: nodeLoads(nodes.values(), 'cpu') };
  const all = loads[kind];
  if (all.length === 0)
    return html`<div class="stack">
      ${panel('Spare room', empty('No node measures spare room: no NodePressurePolicy with spec.spare is in force.'))}
    </div>`;
  const wanted = (params.get('text') ?? '').trim().toLowerCase();
  const found = all.filter(({ name }) => name.includes(wanted));
  const shown = found.slice(0, MAX_LINES);
  return html`<div class="stack">
    ${panel('Cluster', sumsTable(loads))}
    ${panel(
      'Nodes, most idle first',
      filters(
        'Filter nodes',
        choice('Resource', kind === 'cpu' ? 'cpu' : '', OPTIONS, (resource) => setParams({ resource })),
        field('Node', params.get('text') ?? '', (text) => setParams({ text })),
      ),
      html`<p class="quiet small" role="status">${countText(shown.length, all.length, nodes.size)}</p>`,
      legend(LEGEND),
      html`<ul class="queues">
        ${repeat(
          shown,
          ({ name }) => name,
          (node) => loadLine(kind, node),
        )}
      </ul>`,
    )}
  </div>`;
}

function countText(shown: number, measured: number, all: number): string {
  const silent = measured === all ? '' : `; ${all - measured} more do not measure spare room`;
  return `${shown === measured ? measured : `${shown} of ${measured}`} nodes${silent}`;
}

function sumsTable(loads: Readonly<Record<SpareKind, readonly NodeLoad[]>>): Shown {
  const rows = SPARE_KINDS.map((kind): Row => {
    const { requested, idle, lendable, lent, taken } = spareSums(loads[kind]);
    const amounts = [requested, idle, lendable, lent, taken].map((amount) => loadAmount(kind, amount));
    return [['', SUM_TITLES[kind]], ...amounts.map((text) => ['number', text] as const)];
  });
  return table('Spare room of the cluster', SUMS, rows);
}

function loadLine(kind: SpareKind, node: NodeLoad): Shown {
  const { name, mode, why } = node;
  const [shares, text] = [loadShares(node), loadText(kind, node)];
  return html`<li class="queue">
    <div class="queue-bar">
      <span class="pod">${nodeLink(name)} ${mode === 'Enforce' ? nothing : badge('dry run')}</span>
      ${markedBar(
        `${name}: ${text}`,
        { used: shares.used, added: shares.lendable },
        LINES.map((each) => [each, shares[each]]),
      )}
      <span class="small quiet">${text}${why === '' ? nothing : html`<br />${why}`}</span>
    </div>
  </li>`;
}
