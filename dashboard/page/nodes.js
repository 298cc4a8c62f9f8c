/** All nodes at a glance, one row each: nodes in Enforce mode with the least headroom come first. */
import { html, nothing, ref, repeat } from './library/library.js';
import { SHORTAGES } from './library/signals.js';
import { age, percent, podName, STATES } from './format.js';
import { DEFAULT_SORT, orderOf, selectedNodes } from './node-filters.js';
import { badge, choice, empty, field, meter, panel, stateText, tableCells } from './parts.js';
import { virtualRows } from './virtual-rows.js';

/** `[class, title, name in the address]`. */
const COLUMNS = [
  ['', 'Node', 'name'],
  ['', 'State', 'state'],
  ['wide', 'Memory', 'memory'],
  ['number', 'Headroom', 'headroom'],
  ['', 'Next to be evicted', 'next'],
  ['', 'Seen', 'seen'],
];
/** Height of a row with one line. */
const ROW_HEIGHT = 41;
const MODES = [
  ['', 'Any mode'],
  ['Enforce', 'Enforce'],
  ['DryRun', 'Dry run'],
];

export function nodesPage({ redraw }) {
  const rows = virtualRows(redraw, ROW_HEIGHT);
  return {
    title: 'Nodes',
    render: (context) => nodesView(context, rows),
    drawn: rows.drawn,
    close: rows.stop,
  };
}

function nodesView({ nodes, params, setParams, now }, rows) {
  const shown = selectedNodes(nodes, params);
  const list =
    shown.length === 0
      ? empty(nodes.size === 0 ? 'No agent has reported yet.' : 'No node matches the filters.')
      : nodeTable(shown, { rows, params, setParams, now });
  return html`<div class="stack">
    ${tiles(nodes, params, setParams)}
    ${panel('Nodes', filters(params, setParams), count(shown.length, nodes.size), list)}
  </div>`;
}

function filters(params, setParams) {
  const of = (name) => params.get(name) ?? '';
  const set = (name) => (value) => setParams({ [name]: value });
  return html`<form
    class="filters"
    role="search"
    aria-label="Filter nodes"
    @submit=${(event) => event.preventDefault()}
  >
    ${field('Text', of('text'), set('text'))} ${choice('Mode', of('mode'), MODES, set('mode'))}
    ${field('Policy', of('policy'), set('policy'))} ${field('Pod', of('pod'), set('pod'))}
    ${field('Namespace', of('namespace'), set('namespace'))}
  </form>`;
}

function count(shown, all) {
  return html`<p class="quiet small" role="status">${shown === all ? `${all} nodes` : `${shown} of ${all} nodes`}</p>`;
}

/** The number of nodes in each state; a click shows only these nodes. */
function tiles(nodes, params, setParams) {
  const chosen = new Set((params.get('state') ?? '').split(',').filter(Boolean));
  const counts = new Map();
  let evicting = 0;
  for (const node of nodes.values()) {
    counts.set(node.state, (counts.get(node.state) ?? 0) + 1);
    evicting += node.evicting;
  }
  const toggle = (state) => () => {
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

function tile({ className, count: number, label, isOn }, click) {
  return html`<li>
    <button type="button" class="tile ${number === 0 ? 'quiet' : className}" aria-pressed=${isOn} @click=${click}>
      <b>${number}</b><span>${label}</span>
    </button>
  </li>`;
}

function nodeTable(shown, { rows, params, setParams, now }) {
  const { indexes, before, after } = rows.visible(shown.map(({ name }) => name));
  const visible = indexes.filter((index) => index < shown.length);
  return html`<div class="scroll tall" tabindex="0" role="region" aria-label="List of nodes" ${ref(rows.scrollIn)}>
    <table class="nodes" aria-rowcount=${shown.length + 1}>
      <caption>
        Nodes in Enforce mode with the least headroom come first, unless another column is chosen
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
          (index) => shown[index].name,
          (index) => nodeRow(shown[index], { index, now, measure: rows.measure }),
        )}
        ${space(after)}
      </tbody>
    </table>
  </div>`;
}

function space(height) {
  return height <= 0
    ? nothing
    : html`<tr class="space" aria-hidden="true">
        <td colspan="6" .style=${`height: ${height}px`}></td>
      </tr>`;
}

function sortable([className, title, name], { column, isReversed }, setParams) {
  const isHere = column === name;
  const sort = isHere ? (isReversed ? 'descending' : 'ascending') : nothing;
  const arrow = isHere ? (isReversed ? '▼' : '▲') : '';
  const click = () =>
    setParams({ sort: name === DEFAULT_SORT ? '' : name, order: isHere && !isReversed ? 'desc' : '' });
  return html`<th scope="col" class=${className} aria-sort=${sort}>
    <button type="button" class="sort" @click=${click}>${title}<span aria-hidden="true">${arrow}</span></button>
  </th>`;
}

function nodeRow(node, { index, now, measure }) {
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
  return html`<tr class=${`state-${node.state}`} data-index=${index} aria-rowindex=${index + 2} ${ref(measure)}>
    ${cells}
  </tr>`;
}

function stateOf(node) {
  // The signals of a shortage already show it.
  const details = [...node.signals, ...node.troubles.filter((type) => !SHORTAGES.includes(type))];
  const more = details.length === 0 ? nothing : html`<div class="quiet small">${details.join(', ')}</div>`;
  return html`<div>${stateText(node.state)}${more}</div>`;
}

function memoryOf({ usedRatio, lineRatio }) {
  if (usedRatio === undefined) return undefined;
  const line = lineRatio === undefined ? '' : `, the threshold is at ${percent(lineRatio)}`;
  return meter(usedRatio, lineRatio, `${percent(usedRatio)} used${line}`);
}
