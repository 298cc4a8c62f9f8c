/** One node: signals against their thresholds over time, the pods that would be evicted and why, and its timeline. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import { inOneUnit } from '#dashboard/views/one-unit.ts';
import { isRemoval, type EvictionView, type NodeState, type NodeView, type SignalView } from '#dashboard/views/view.ts';
import { type Chart, chartLabel, createChart, type Figures } from './chart.ts';
import type { Context, Page, PageOptions, Shown } from './context.ts';
import { age, percent, shownState, STATES } from './format.ts';
import { createReadings, type Readings } from './readings.ts';
import {
  badge,
  bar,
  choice,
  type Column,
  empty,
  modeText,
  moment,
  type Option,
  panel,
  podLink,
  type Row,
  stateText,
  table,
  troubleList,
} from './parts.ts';
import { NEXT, nextRows } from './pod.ts';
import { entryList } from './timeline.ts';

const SPANS: readonly Option[] = [
  ['', 'All data'],
  ['7d', 'The last week'],
  ['1d', 'The last day'],
  ['1h', 'The last hour'],
];
const SPAN_MS: Readonly<Record<string, number>> = { '7d': 604_800_000, '1d': 86_400_000, '1h': 3_600_000 };
export function nodePage({ name, redraw }: PageOptions): Page {
  const readings = createReadings();
  const charts = new Map<string, Chart>();
  let node: NodeView | null | undefined;
  let cursor = '';
  let figures: ReadonlyMap<string, Figures> = new Map();
  const onCursor = (text: string): void => {
    if (text === cursor) return;
    cursor = text;
    redraw();
  };
  const chartOf = (signal: string): Chart => {
    const known = charts.get(signal) ?? createChart(onCursor);
    charts.set(signal, known);
    return known;
  };
  return {
    title: name,
    hasHeading: true,
    node: name,
    take(update, isFirst) {
      if (isFirst) readings.clear();
      if (update.history !== undefined) readings.append(update.history);
      if (update.node !== undefined) node = update.node;
    },
    render(context) {
      if (node === undefined) return empty('Waiting for data…');
      if (node === null) return missing(name);
      figures = figuresOf(node, readings, context);
      return nodeView(node, { ...context, figures, chartOf, cursor });
    },
    drawn: () => figures.forEach((each, signal) => charts.get(signal)?.draw(each)),
    close: () => charts.forEach((chart) => chart.close()),
  };
}

/** Chart data by signal, for signals with a threshold and a history. */
function figuresOf(
  node: NodeView,
  readings: Readings,
  { now, params, nodeTimeline }: Context,
): ReadonlyMap<string, Figures> {
  const times = readings.times();
  const from = Math.max(now - (SPAN_MS[params.get('span') ?? ''] ?? Infinity), times[0] ?? 0);
  const until = times.at(-1) ?? now;
  const gone = nodeTimeline.filter(({ kind, isDryRun }) => isRemoval(kind) && !isDryRun).map(({ at }) => at);
  const watched = node.readings.filter(({ name, threshold }) => threshold !== undefined && readings.has(name));
  return new Map(
    watched.map(({ name, lineRatio }) => {
      const marks = gone.filter((at) => at >= from);
      return [name, { times, values: readings.values(name), lineRatio, marks, from, until, now }];
    }),
  );
}

function missing(name: string): Shown {
  return html`<div class="stack">
    ${back()}
    <h1>${name}</h1>
    <div class="panel">${empty('This node does not exist, or its agent has not reported yet.')}</div>
  </div>`;
}

interface NodeContext extends Context {
  readonly figures: ReadonlyMap<string, Figures>;
  readonly chartOf: (signal: string) => Chart;
  readonly cursor: string;
}

function nodeView(node: NodeView, context: NodeContext): Shown {
  return html`<div class="stack">
    ${back()} ${headline(node, context.now)}
    ${
      node.conditions.some(({ isTrouble }) => isTrouble)
        ? panel('Conditions that need attention', troubleList(node.conditions))
        : nothing
    }
    ${node.state === 'NoAgent' ? noAgent() : details(node, context)}
  </div>`;
}

function noAgent(): Shown {
  const text =
    'No agent has reported from this node: its memory is unknown, and Plimsoll evicts no pod here. Check that a pod of the DaemonSet plimsoll-agent runs on it.';
  return panel('Signals', empty(text));
}

function details(node: NodeView, context: NodeContext): Shown {
  return html`${signals(node, context)} ${candidates(node)} ${evictions(node, context.now)}
  ${panel('What happened on this node', entryList(context.nodeTimeline, context.now))} ${avoided(node, context.now)}`;
}

function back(): Shown {
  return html`<p class="back"><a href="#/nodes">← All nodes</a></p>`;
}

function headline(node: NodeView, now: number): Shown {
  const facts = [
    node.state === 'NoAgent' ? '' : node.policy === '' ? 'default policy' : `policy ${node.policy}`,
    node.agent === '' ? '' : `agent ${node.agent}`,
  ].filter(Boolean);
  const seen =
    node.state === 'Unknown'
      ? html`last report ${age(node.observedAt, now)}: the data below is old`
      : node.state === 'NoAgent'
        ? 'never seen'
        : html`seen ${moment(node.observedAt, now)}`;
  return html`<section class=${node.state === 'Unknown' ? 'headline stale' : 'headline'}>
    <h1>${node.name}</h1>
    <div class="badges">
      <span class="badge state-${shownState(node)}">${stateText(shownState(node))}</span>
      ${node.mode === '' ? nothing : badge(modeText(node.mode))}
    </div>
    <p><a href=${`#/what-if?node=${encodeURIComponent(node.name)}`}>What if …</a></p>
    <p class="quiet">${facts.map((fact) => `${fact} · `)}${seen}</p>
  </section>`;
}

/** Signals with a threshold as charts, then the others. */
function signals(node: NodeView, context: NodeContext): Shown {
  if (node.readings.length === 0) return panel('Signals', empty('No signal is measured yet.'));
  const grid = (isWatched: boolean): Shown => {
    const readings = node.readings.filter(({ threshold }) => (threshold !== undefined) === isWatched);
    return readings.length === 0
      ? nothing
      : html`<div class="signals">${readings.map((each) => signalBlock(each, context))}</div>`;
  };
  const { params, setParams, cursor } = context;
  return panel(
    'Signals',
    html`<div class="filters">
      ${choice('Time', params.get('span') ?? '', SPANS, (span) => setParams({ span }))}
      <output class="small cursor">${cursor}</output>
    </div>`,
    legend(),
    grid(true),
    grid(false),
  );
}

/** What the charts show; a screen reader gets it from the label of each. */
function legend(): Shown {
  return html`<ul class="legend small" aria-hidden="true">
    <li><span class="swatch swatch-used"></span>used share</li>
    <li><span class="swatch swatch-threshold"></span>threshold</li>
    <li><span class="swatch swatch-removal"></span>removal of a pod</li>
  </ul>`;
}

function signalBlock(signal: SignalView, { figures, chartOf }: NodeContext): TemplateResult {
  const isMet = signal.threshold !== undefined && signal.state !== 'Far';
  return html`<div class="signal state-${signal.state}">
    <div class="signal-head">
      <h3>${signal.name}</h3>
      <span class="state-text state-${signal.state}">${isMet ? STATES[signal.state as NodeState].label : nothing}</span>
    </div>
    <p class="small">${amounts(signal)}</p>
    ${figure(signal, figures.get(signal.name), chartOf)}
  </div>`;
}

function figure(
  { name, usedRatio, lineRatio }: SignalView,
  shown: Figures | undefined,
  chartOf: NodeContext['chartOf'],
): Shown {
  if (shown !== undefined) {
    const { mount } = chartOf(name);
    return html`<div class="chart" role="img" aria-label=${chartLabel(name, shown)} ${ref(mount)}></div>`;
  }
  if (usedRatio === undefined) return nothing;
  const line = lineRatio === undefined ? '' : `, threshold at ${percent(lineRatio)}`;
  return bar(usedRatio, lineRatio, `${name}: ${percent(usedRatio)} used now${line}`);
}

function amounts(signal: SignalView): string {
  const { usedRatio } = signal;
  const written = inOneUnit([signal.available, signal.capacity, signal.threshold, signal.reclaimable]);
  const [available = '', capacity = '', threshold, reclaimable] = written;
  const used = usedRatio === undefined ? '' : `${percent(usedRatio)} used · `;
  const line = threshold === undefined ? 'no threshold' : `threshold ${threshold}`;
  const more = reclaimable === undefined ? '' : ` · ${reclaimable} can be reclaimed`;
  return `${used}${available} of ${capacity} available · ${line}${more}`;
}

function candidates({ candidates: next }: NodeView): Shown {
  const title = 'Next to be evicted';
  if (next.length === 0) return panel(title, empty('No pod of this node may be evicted.'));
  return panel(title, table('Pods in the order in which they would be evicted', NEXT, nextRows(next)));
}

function evictions({ evictions: all }: NodeView, now: number): Shown {
  if (all.length === 0) return panel('Evictions', empty('No eviction yet.'));
  const columns: readonly Column[] = [
    ['', 'Time'],
    ['', 'Pod'],
    ['', 'Signal'],
    ['', 'Outcome'],
    ['', 'Reason'],
  ];
  const rows = all.map((eviction): Row => [
    ['time', moment(eviction.requestedAt, now)],
    ['', podLink(eviction.pod)],
    ['', `${eviction.signal} ${eviction.stage}`],
    ['', outcomeOf(eviction, now)],
    ['reason', eviction.why || undefined],
  ]);
  return panel('Evictions', table('Evictions of this node, newest first', columns, rows));
}

function outcomeOf({ outcome, mode, endedAt }: EvictionView, now: number): Shown {
  if (mode === 'DryRun') return 'dry run';
  return endedAt === undefined ? outcome : html`${outcome}, ended ${moment(endedAt, now)}`;
}

function avoided({ avoided: entries }: NodeView, now: number): Shown {
  if (entries.length === 0) return nothing;
  const columns: readonly Column[] = [
    ['', 'Owner'],
    ['', 'Until'],
    ['', 'Kind'],
    ['', 'Cause'],
  ];
  const rows = entries.map(({ owner, until, isHard, cause }): Row => [
    ['', podLink(owner)],
    ['time', moment(until, now)],
    ['', isHard ? 'forbidden' : 'last choice'],
    ['reason', cause],
  ]);
  return panel(
    'Owners kept away',
    table('Owners whose pods should not be placed on this node for a while', columns, rows),
  );
}
