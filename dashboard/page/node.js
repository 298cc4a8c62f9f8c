/** One node: signals against their thresholds over time, the pods that would be evicted and why, evictions. */
import { chart, chartLabel } from './chart.js';
import { bar, element, empty, link, panel, table } from './dom.js';
import { age, percent, podName, STATES, timeOfDay } from './format.js';

const KEPT_POINTS = 600;

export function nodePage(name) {
  const box = element('div', 'stack');
  box.append(empty('Waiting for data…'));
  let times = [];
  let ratios = {};

  function take(history) {
    times = [...history.times];
    ratios = Object.fromEntries(Object.entries(history.ratios).map(([signal, values]) => [signal, [...values]]));
  }

  function append(node) {
    if (node.observedAt === undefined || node.observedAt <= (times.at(-1) ?? 0)) return;
    times.push(node.observedAt);
    for (const { name: signal, usedRatio } of node.readings) {
      ratios[signal] ??= times.slice(0, -1).map(() => null);
      ratios[signal].push(usedRatio ?? null);
    }
    for (const values of Object.values(ratios)) if (values.length < times.length) values.push(null);
    if (times.length <= KEPT_POINTS) return;
    times.shift();
    for (const values of Object.values(ratios)) values.shift();
  }

  return {
    element: box,
    title: name,
    render({ node, history, now }) {
      if (history !== undefined) take(history);
      if (node === undefined) return;
      if (node === null) {
        const missing = empty('There is no such node, or its agent has not reported yet.');
        box.replaceChildren(back(), element('h1', '', name), element('div', 'panel', missing));
        return;
      }
      append(node);
      box.replaceChildren(
        back(),
        headline(node, now),
        ...troubles(node),
        signals(node, times, ratios),
        candidates(node),
        evictions(node),
        ...avoided(node),
      );
    },
  };
}

function back() {
  return element('p', 'back', link('#/nodes', '', '← All nodes'));
}

function headline(node, now) {
  const { label, mark } = STATES[node.state];
  const state = element('span', `badge state-${node.state}`, `${mark} ${label}`);
  const mode = element('span', 'badge', node.mode === 'Enforce' ? 'Enforce' : 'Dry run');
  const facts = [node.policy === '' ? 'default policy' : `policy ${node.policy}`, node.agent && `agent ${node.agent}`];
  const seen =
    node.state === 'Unknown'
      ? `last report ${age(node.observedAt, now)}: the data below is old`
      : `seen at ${timeOfDay(node.observedAt)}`;
  return element(
    'section',
    node.state === 'Unknown' ? 'headline stale' : 'headline',
    element('h1', '', node.name),
    element('div', 'badges', state, mode),
    element('p', 'quiet', [...facts.filter(Boolean), seen].join(' · ')),
  );
}

function troubles({ conditions }) {
  const wrong = conditions.filter(({ isTrouble }) => isTrouble);
  if (wrong.length === 0) return [];
  const items = wrong.map(({ type, reason, message }) => {
    return element(
      'li',
      '',
      element('b', '', `${type}: ${reason}`),
      message === '' ? '' : element('span', '', ` ${message}`),
    );
  });
  const list = element('ul', 'troubles', ...items);
  return [panel('Conditions that need attention', list)];
}

/** Those with a threshold as charts, then the others. */
function signals(node, times, ratios) {
  if (node.readings.length === 0) return panel('Signals', empty('No signal is measured yet.'));
  const [watched, others] = [true, false].map((isWatched) =>
    node.readings.filter(({ threshold }) => (threshold !== undefined) === isWatched),
  );
  const grid = (readings) =>
    element('div', 'signals', ...readings.map((each) => signalBlock(each, times, ratios[each.name] ?? [])));
  return panel('Signals', ...[watched, others].filter(({ length }) => length > 0).map(grid));
}

function signalBlock(signal, times, values) {
  const isMet = signal.threshold !== undefined && signal.state !== 'Far';
  const head = element('div', 'signal-head', element('h3', '', signal.name));
  head.append(element('span', `state-text state-${signal.state}`, isMet ? STATES[signal.state].label : ''));
  const block = element('div', `signal state-${signal.state}`, head, element('p', 'small', amounts(signal)));
  if (signal.usedRatio === undefined) return block;
  const known = values.filter((value) => value !== null).length;
  const label = chartLabel(signal.name, values, signal.lineRatio);
  block.append(
    known > 1 && signal.threshold !== undefined
      ? chart(times, values, signal.lineRatio, label)
      : bar(signal.usedRatio, signal.lineRatio, label),
  );
  return block;
}

function amounts({ available, capacity, threshold, usedRatio, reclaimable }) {
  const used = usedRatio === undefined ? '' : `${percent(usedRatio)} used · `;
  const line = threshold === undefined ? 'no threshold' : `threshold ${threshold}`;
  const more = reclaimable === undefined ? '' : ` · ${reclaimable} can be reclaimed`;
  return `${used}${available} of ${capacity} available · ${line}${more}`;
}

function candidates({ candidates: next }) {
  const title = 'Next to be evicted';
  if (next.length === 0) return panel(title, empty('No pod of this node may be evicted.'));
  const columns = [
    ['number', '#'],
    ['', 'Pod'],
    ['number', 'Priority'],
    ['number', 'Usage'],
    ['number', 'Request'],
    ['', 'Reason'],
  ];
  const rows = next.map((pod) => [
    ['number', String(pod.rank)],
    ['pod', podName(pod.pod)],
    ['number', pod.priority === undefined ? undefined : String(pod.priority)],
    ['number', pod.usage],
    ['number', pod.request],
    ['reason', pod.why || undefined],
  ]);
  return panel(title, table('Pods in the order in which they would be evicted', columns, rows));
}

function evictions({ evictions: all }) {
  if (all.length === 0) return panel('Evictions', empty('No eviction yet.'));
  const columns = [
    ['', 'Time'],
    ['', 'Pod'],
    ['', 'Signal'],
    ['', 'Outcome'],
    ['', 'Reason'],
  ];
  const rows = all.map((eviction) => [
    ['time', timeOfDay(eviction.requestedAt)],
    ['pod', podName(eviction.pod)],
    ['', `${eviction.signal} ${eviction.stage}`],
    ['', outcomeOf(eviction)],
    ['reason', eviction.why || undefined],
  ]);
  return panel('Evictions', table('Evictions of this node, newest first', columns, rows));
}

function outcomeOf({ outcome, mode, endedAt }) {
  if (mode === 'DryRun') return 'dry run';
  return endedAt === undefined ? outcome : `${outcome}, ended ${timeOfDay(endedAt)}`;
}

function avoided({ avoided: entries }) {
  if (entries.length === 0) return [];
  const columns = [
    ['', 'Owner'],
    ['', 'Until'],
    ['', 'Kind'],
    ['', 'Cause'],
  ];
  const rows = entries.map(({ owner, until, isHard, cause }) => [
    ['pod', owner],
    ['time', timeOfDay(until)],
    ['', isHard ? 'forbidden' : 'last choice'],
    ['reason', cause],
  ]);
  return [
    panel('Owners kept away', table('Owners whose pods should not be placed on this node for a while', columns, rows)),
  ];
}
