/** The page: renders each view that the server sends. Text is only ever set as text. */

const SVG = 'http://www.w3.org/2000/svg';
const BAR_WIDTH = 1000;

/** An element with classes, and children that are elements or text. */
function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

function shape(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

function row(...cells) {
  const line = document.createElement('tr');
  for (const [className, content] of cells) line.append(element('td', className, content ?? '–'));
  return line;
}

function table(columns, rows) {
  const head = document.createElement('tr');
  for (const [className, title] of columns) {
    const cell = element('th', className, title);
    cell.scope = 'col';
    head.append(cell);
  }
  const scroll = element(
    'div',
    'scroll',
    element('table', '', element('thead', '', head), element('tbody', '', ...rows)),
  );
  scroll.tabIndex = 0;
  return scroll;
}

function timeOfDay(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toLocaleTimeString([], { hour12: false });
}

function percent(ratio) {
  return `${Math.round(ratio * 100)} %`;
}

/** The hull: how much is used, and the line that must not go under. */
function bar(signal) {
  const label =
    signal.lineRatio === undefined
      ? `${percent(signal.usedRatio)} used`
      : `${percent(signal.usedRatio)} used, the line is at ${percent(signal.lineRatio)}`;
  const svg = shape('svg', { class: 'bar', viewBox: `0 0 ${BAR_WIDTH} 16`, preserveAspectRatio: 'none', role: 'img' });
  svg.setAttribute('aria-label', label);
  svg.append(shape('rect', { class: 'hull', width: BAR_WIDTH, height: 16, rx: 4 }));
  svg.append(shape('rect', { class: 'used', width: signal.usedRatio * BAR_WIDTH, height: 16, rx: 4 }));
  if (signal.lineRatio !== undefined) {
    const x = signal.lineRatio * BAR_WIDTH;
    svg.append(shape('line', { class: 'mark', x1: x, x2: x, y1: 0, y2: 16, 'vector-effect': 'non-scaling-stroke' }));
  }
  return svg;
}

function signalBlock(signal) {
  const state = signal.state === 'Far' ? '' : ` · ${signal.state}`;
  const head = element('div', 'signal-head', element('b', '', signal.name + state));
  head.append(
    element('span', 'quiet', signal.usedRatio === undefined ? signal.available : `${percent(signal.usedRatio)} used`),
  );
  const block = element('div', `state-${signal.state}`, head);
  if (signal.usedRatio !== undefined) block.append(bar(signal));
  const line = signal.threshold === undefined ? '' : `, line at ${signal.threshold}`;
  const had = signal.reclaimable === undefined ? '' : `, ${signal.reclaimable} can be reclaimed`;
  block.append(element('div', 'quiet', `${signal.available} of ${signal.capacity} available${had}${line}`));
  return block;
}

function nextTable(next) {
  const columns = [
    ['number', '#'],
    ['', 'Pod'],
    ['number', 'Priority'],
    ['number', 'Usage'],
    ['number', 'Request'],
    ['', 'Why'],
  ];
  return table(
    columns,
    next.map((pod) =>
      row(
        ['number', String(pod.rank)],
        ['name', pod.pod],
        ['number', String(pod.priority)],
        ['number', pod.usage],
        ['number', pod.request],
        ['', pod.why],
      ),
    ),
  );
}

function evictionTable(evictions) {
  const columns = [
    ['', 'Time'],
    ['', 'Pod'],
    ['', 'Signal'],
    ['', 'Stage'],
    ['', 'Outcome'],
    ['', 'Why'],
  ];
  return table(
    columns,
    evictions.map((eviction) =>
      row(
        ['time', timeOfDay(eviction.requestedAt)],
        ['name', eviction.pod],
        ['', eviction.signal],
        ['', eviction.stage],
        ['', eviction.outcome],
        ['', eviction.why],
      ),
    ),
  );
}

function nodePanel(node) {
  const title = element('div', 'title', element('h2', '', node.name), element('span', 'badge', node.mode));
  for (const condition of node.conditions.filter(({ isTrouble }) => isTrouble)) {
    const badge = element('span', 'badge warning', `${condition.type}: ${condition.reason}`);
    badge.title = condition.message;
    title.append(badge);
  }
  const seen = node.isStale ? `not heard of since ${timeOfDay(node.observedAt)}` : `seen ${timeOfDay(node.observedAt)}`;
  title.append(
    element('span', node.isStale ? 'quiet warning' : 'quiet', `policy ${node.policy || 'default'} · ${seen}`),
  );
  const panel = element('article', 'panel', title, element('h3', '', 'Signals'));
  panel.append(element('div', 'signals', ...node.signals.map(signalBlock)));
  panel.append(element('h3', '', 'Who would go next'));
  panel.append(node.next.length > 0 ? nextTable(node.next) : element('p', 'empty', 'No pod may be evicted here.'));
  panel.append(element('h3', '', 'Last decisions'));
  panel.append(node.evictions.length > 0 ? evictionTable(node.evictions) : element('p', 'empty', 'No eviction yet.'));
  return panel;
}

/** Pressure that holds, and sources that do not agree. */
function eventRow(event) {
  const note = event.count > 1 ? `${event.note} (${event.count} times)` : event.note;
  return row(
    ['time', timeOfDay(event.at)],
    [event.type === 'Warning' ? 'warning' : '', event.reason],
    ['name', event.about],
    ['', note],
    ['', event.from],
  );
}

function emptyNodes() {
  return element('p', 'panel empty', 'No agent has reported yet. Its object appears with: kubectl get nodepressures');
}

function render(view) {
  const nodes = view.nodes.length > 0 ? view.nodes.map(nodePanel) : [emptyNodes()];
  document.getElementById('nodes').replaceChildren(...nodes);
  document.getElementById('events').replaceChildren(...view.events.map(eventRow));
  document.getElementById('no-events').hidden = view.events.length > 0;
  document.getElementById('freshness').textContent = `live · ${timeOfDay(view.at)}`;
}

const live = new EventSource('/api/live');
live.addEventListener('message', ({ data }) => render(JSON.parse(data)));
live.addEventListener('error', () => {
  document.getElementById('freshness').textContent = 'connection lost, trying again…';
});
