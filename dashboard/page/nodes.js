/** All nodes at a glance: the worst first, one row each. */
import { bar, element, empty, header, link, panel, tableRow } from './dom.js';
import { age, percent, podName, STATES } from './format.js';

const COLUMNS = [
  ['', 'Node'],
  ['', 'State'],
  ['wide', 'Memory'],
  ['number', 'Headroom'],
  ['', 'Next to be evicted'],
  ['', 'Seen'],
];

/** A view that keeps its rows: an update touches only those that changed. */
export function nodesPage() {
  const rows = new Map();
  const tiles = element('ul', 'tiles');
  tiles.setAttribute('aria-label', 'Nodes by state');
  const body = element('tbody', '');
  const filter = element('input', '');
  const nothing = empty('');
  const table = element(
    'table',
    'nodes',
    element('caption', '', 'Nodes, most urgent first'),
    element('thead', '', element('tr', '', ...COLUMNS.map(([className, title]) => header(className, title)))),
    body,
  );
  filter.type = 'search';
  filter.placeholder = 'Filter by name';
  filter.setAttribute('aria-label', 'Filter nodes by name');
  filter.addEventListener('input', () => order());
  const section = panel('Nodes', filter, table, nothing);
  let known = new Map();

  function order() {
    const wanted = filter.value.trim().toLowerCase();
    const shown = [...known.values()].filter(({ name }) => name.toLowerCase().includes(wanted)).sort(worstFirst);
    body.replaceChildren(...shown.map(({ name }) => rows.get(name)));
    table.hidden = shown.length === 0;
    nothing.textContent =
      known.size === 0 ? 'No agent has reported yet.' : shown.length === 0 ? `No node matches "${filter.value}".` : '';
    nothing.hidden = shown.length > 0;
  }

  return {
    element: element('div', 'stack', tiles, section),
    title: 'Nodes',
    render({ nodes, changed, now }) {
      let mustOrder = known.size !== nodes.size;
      for (const node of changed === 'all' ? nodes.values() : changed) {
        const before = known.get(node.name);
        mustOrder ||= before === undefined || before.state !== node.state;
        const row = nodeRow(node, now);
        rows.get(node.name)?.replaceWith(row);
        rows.set(node.name, row);
      }
      known = new Map(nodes);
      for (const name of rows.keys()) if (!known.has(name)) rows.delete(name);
      if (mustOrder || changed === 'all') order();
      tiles.replaceChildren(...tilesOf(known));
    },
  };
}

function worstFirst(a, b) {
  return STATES[a.state].rank - STATES[b.state].rank || (a.name < b.name ? -1 : 1);
}

function tilesOf(nodes) {
  const counts = new Map();
  for (const { state } of nodes.values()) counts.set(state, (counts.get(state) ?? 0) + 1);
  const evicting = [...nodes.values()].reduce((sum, node) => sum + node.evicting, 0);
  const states = Object.entries(STATES).map(([state, { label }]) =>
    tile(`state-${state}`, counts.get(state) ?? 0, label),
  );
  return [...states, tile('', evicting, 'Evictions in flight')];
}

function tile(className, count, label) {
  return element(
    'li',
    count === 0 ? 'tile quiet' : `tile ${className}`,
    element('b', '', String(count)),
    element('span', '', label),
  );
}

function nodeRow(node, now) {
  const name = element('div', 'node-name', link(`#/nodes/${encodeURIComponent(node.name)}`, '', node.name));
  if (node.mode !== 'Enforce') name.append(element('span', 'badge', 'dry run'));
  if (node.evicting > 0) name.append(element('span', 'badge strong', `${node.evicting} in flight`));
  const row = tableRow(COLUMNS, [
    ['', name],
    ['', stateOf(node)],
    ['wide', memoryOf(node)],
    ['number', node.headroom],
    ['pod', node.next === undefined ? undefined : podName(node.next)],
    ['quiet', node.state === 'Unknown' ? age(node.observedAt, now) : 'now'],
  ]);
  row.className = `state-${node.state}`;
  return row;
}

function stateOf(node) {
  const { label, mark } = STATES[node.state];
  const text = element('div', 'state', element('span', 'mark-text', mark), label);
  text.firstChild.setAttribute('aria-hidden', 'true');
  const details = [...node.signals, ...node.troubles.filter((type) => !SHORTAGES.includes(type))];
  return details.length === 0 ? text : element('div', '', text, element('div', 'quiet small', details.join(', ')));
}

/** Their signals already say so. */
const SHORTAGES = ['Memory', 'Cpu', 'Io', 'Disk', 'Pid'];

function memoryOf({ usedRatio, lineRatio }) {
  if (usedRatio === undefined) return undefined;
  const line = lineRatio === undefined ? '' : `, the threshold is at ${percent(lineRatio)}`;
  const used = element('span', 'small', percent(usedRatio));
  return element('div', 'meter', bar(usedRatio, lineRatio, `${percent(usedRatio)} used${line}`), used);
}
