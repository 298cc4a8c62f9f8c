/** All nodes at a glance, one row each: those that meet a threshold come first, then those that enforce with the least headroom. */
import { html, nothing } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import { repeat } from 'lit-html/directives/repeat.js';
import { FAMILIES } from '#shared/domain/nodes/plan-node-changes.ts';
import type { NodeSummary } from '#dashboard/views/view.ts';
import type { Context, Page, PageOptions, SetParams, Shown } from './context.ts';
import { age, percent, podName, shownState, STATES } from './format.ts';
import { DEFAULT_SORT, orderOf, selectedNodes, type SortColumn } from './node-filters.ts';
import { badge, choice, empty, field, filters, meter, type Option, panel, stateText, tableCells } from './parts.ts';
import { type VirtualRows, virtualRows } from './virtual-rows.ts';

/** Its name in the address comes last. */
type SortableColumn = readonly [className: string, title: string, name: SortColumn];

const COLUMNS: readonly SortableColumn[] = [
  ['', 'Node', 'name'],
  ['', 'State', 'state'],
  ['wide', 'Memory', 'memory'],
  ['number', 'Headroom', 'headroom'],
  ['', 'Next to be evicted', 'next'],
  ['', 'Seen', 'seen'],
];
/** Height of a row with one line. */
const ROW_HEIGHT = 41;
/** Types that report a shortage, which the signals already show. */
const SHORTAGES: readonly string[] = FAMILIES;
const MODES: readonly Option[] = [
  ['', 'Any mode'],
  ['Enforce', 'Enforce'],
  ['DryRun', 'Dry run'],
];

export function nodesPage({ redraw }: PageOptions): Page {
  const rows = virtualRows(redraw, ROW_HEIGHT);
  return {
    title: 'Nodes',
    render: (context) => nodesView(context, rows),
    drawn: rows.drawn,
    close: rows.stop,
  };
}

function nodesView({ nodes, params, setParams, now }: Context, rows: VirtualRows): Shown {
  const shown = selectedNodes(nodes, params);
  const list =
    shown.length === 0
      ? empty(nodes.size === 0 ? 'No agent has reported yet.' : 'No node matches the filters.')
      : nodeTable(shown, { rows, params, setParams, now });
  return html`<div class="stack">
    ${tiles(nodes, params, setParams)}
    ${panel('Nodes', nodeFilters(params, setParams), count(shown.length, nodes.size), list)}
  </div>`;
}

function nodeFilters(params: URLSearchParams, setParams: SetParams): Shown {
  const of = (name: string): string => params.get(name) ?? '';
  const set = (name: string) => (value: string) => setParams({ [name]: value });
  return filters(
    'Filter nodes',
    field('Text', of('text'), set('text')),
    choice('Mode', of('mode'), MODES, set('mode')),
    field('Policy', of('policy'), set('policy')),
    field('Pod', of('pod'), set('pod')),
    field('Namespace', of('namespace'), set('namespace')),
  );
}

function count(shown: number, all: number): Shown {
  return html`<p class="quiet small" role="status">${shown === all ? `${all} nodes` : `${shown} of ${all} nodes`}</p>`;
}

/** The number of nodes in each state; a click shows only these nodes. */
function tiles(nodes: Context['nodes'], params: URLSearchParams, setParams: SetParams): Shown {
  const chosen = new Set((params.get('state') ?? '').split(',').filter(Boolean));
  const counts = new Map<string, number>();
  let evicting = 0;
  for (const node of nodes.values()) {
    const state = shownState(node);
    counts.set(state, (counts.get(state) ?? 0) + 1);
    evicting += node.evicting;
  }
  const toggle = (state: string) => () => {
    const next = chosen.has(state) ? [...chosen].filter((each) => each !== state) : [...chosen, state];
    setParams({ state: next.join(',') });
  };
  const isEvicting = params.get('evicting') === 'true';
  return html`<ul class="tiles" aria-label="Nodes by state">
    ${Object.entries(STATES).map(([state, { label }]) =>
      tile(
        { className: `state-${state}`, count: counts.get(state) ?? 0, label, isOn: chosen.has(state) },
        toggle(state),
      ),
    )}
    ${tile({ className: '', count: evicting, label: 'Evictions in flight', isOn: isEvicting }, () =>
      setParams({ evicting: isEvicting ? '' : 'true' }),
    )}
  </ul>`;
}

interface Tile {
  readonly className: string;
  readonly count: number;
  readonly label: string;
  readonly isOn: boolean;
}

function tile({ className, count: number, label, isOn }: Tile, click: () => void): Shown {
  return html`<li>
    <button type="button" class="tile ${number === 0 ? 'quiet' : className}" aria-pressed=${isOn} @click=${click}>
      <b>${number}</b><span>${label}</span>
    </button>
  </li>`;
}

interface TableContext extends Pick<Context, 'params' | 'setParams' | 'now'> {
  readonly rows: VirtualRows;
}

function nodeTable(shown: readonly NodeSummary[], { rows, params, setParams, now }: TableContext): Shown {
  const { indexes, before, after } = rows.visible(shown.map(({ name }) => name));
  const visible = indexes.flatMap((index) => {
    const node = shown[index];
    return node === undefined ? [] : [{ node, index }];
  });
  return html`<div class="scroll tall" tabindex="0" role="region" aria-label="List of nodes" ${ref(rows.scrollIn)}>
    <table class="nodes" aria-rowcount=${shown.length + 1}>
      <caption>
        Nodes that meet a threshold come first, then those in Enforce mode with the least headroom, unless another
        column is chosen
      </caption>
      <thead>
        <tr aria-rowindex="1">
          ${COLUMNS.map((column) => sortable(column, orderOf(params), setParams))}
        </tr>
      </thead>
      <tbody>
        ${space(before)}
        ${repeat(
          visible,
          ({ node }) => node.name,
          ({ node, index }) => nodeRow(node, { index, now, measure: rows.measure }),
        )}
        ${space(after)}
      </tbody>
    </table>
  </div>`;
}

function space(height: number): Shown {
  return height <= 0
    ? nothing
    : html`<tr class="space" aria-hidden="true">
        <td colspan="6" .style=${`height: ${height}px`}></td>
      </tr>`;
}

function sortable(
  [className, title, name]: SortableColumn,
  { column, isReversed }: ReturnType<typeof orderOf>,
  setParams: SetParams,
): Shown {
  const isHere = column === name;
  const sort = isHere ? (isReversed ? 'descending' : 'ascending') : nothing;
  const arrow = isHere ? (isReversed ? '▼' : '▲') : '';
  const click = () =>
    setParams({ sort: name === DEFAULT_SORT ? '' : name, order: isHere && !isReversed ? 'desc' : '' });
  return html`<th scope="col" class=${className} aria-sort=${sort}>
    <button type="button" class="sort" @click=${click}>${title}<span aria-hidden="true">${arrow}</span></button>
  </th>`;
}

interface RowContext {
  readonly index: number;
  readonly now: number;
  readonly measure: VirtualRows['measure'];
}

function nodeRow(node: NodeSummary, { index, now, measure }: RowContext): Shown {
  const name = html`<div class="node-name">
    <a href=${`#/nodes/${encodeURIComponent(node.name)}`}>${node.name}</a>
    ${node.mode === 'DryRun' ? badge('dry run') : nothing}
    ${node.evicting > 0 ? badge(`${node.evicting} in flight`, 'strong') : nothing}
  </div>`;
  const cells = tableCells(COLUMNS, [
    ['', name],
    ['', stateOf(node)],
    ['wide', memoryOf(node)],
    ['number', node.headroom],
    ['pod', node.next === undefined ? undefined : podName(node.next)],
    ['quiet', node.observedAt === undefined ? 'never' : age(node.observedAt, now)],
  ]);
  return html`<tr class=${`state-${shownState(node)}`} data-index=${index} aria-rowindex=${index + 2} ${ref(measure)}>
    ${cells}
  </tr>`;
}

function stateOf(node: NodeSummary): Shown {
  const details = [...node.signals, ...node.troubles.filter((type) => !SHORTAGES.includes(type))];
  const more = details.length === 0 ? nothing : html`<div class="quiet small">${details.join(', ')}</div>`;
  return html`<div>${stateText(shownState(node))}${more}</div>`;
}

function memoryOf({ usedRatio, lineRatio }: NodeSummary): Shown | undefined {
  if (usedRatio === undefined) return undefined;
  const line = lineRatio === undefined ? '' : `, the threshold is at ${percent(lineRatio)}`;
  return meter(usedRatio, lineRatio, `${percent(usedRatio)} used${line}`);
}
