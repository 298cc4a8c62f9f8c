/** The tree of queues: what each is guaranteed, deserves and uses, what waits, and problems. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { DEFAULT_RECLAIM } from '#shared/domain/queue/reclaim-settings.ts';
import type { QueueResourceView, QueueView } from '#dashboard/views/view.ts';
import type { Context, Page, PageOptions, Shown } from './context.ts';
import { duration } from './format.ts';
import { inOneUnit } from '#dashboard/views/one-unit.ts';
import type { PendingPodView } from '#dashboard/pods/overview.ts';
import { overviewPage, pendingPanel, type ReadOverview } from './pending-pods.ts';
import {
  badge,
  type Column,
  empty,
  field,
  legend,
  markedBar,
  modeText,
  moment,
  nodeLink,
  panel,
  podLink,
  type Row,
  table,
  troubleList,
} from './parts.ts';

type AmountName = Exclude<keyof QueueResourceView, 'name'>;

/** `[name, meaning]`, in the order of the legend. */
const AMOUNTS: readonly (readonly [AmountName, string])[] = [
  ['used', 'used'],
  ['pending', 'pending'],
  ['guaranteed', 'guaranteed'],
  ['deserved', 'deserved'],
  ['max', 'maximum'],
];

const LINES = ['guaranteed', 'deserved', 'max'] as const;

export function queuesPage({ redraw }: PageOptions): Page {
  return overviewPage('Queues', redraw, queuesView);
}

function queuesView({ queues, params, setParams, now }: Context, overview: ReadOverview): Shown {
  const wanted = (params.get('text') ?? '').trim().toLowerCase();
  const shown = queues.filter(({ name }) => name.toLowerCase().includes(wanted));
  const body =
    queues.length === 0
      ? empty('There are no queues.')
      : html`${field('Queue', params.get('text') ?? '', (text) => setParams({ text }))} ${legend(AMOUNTS)}
          ${shown.length === 0 ? empty('No queue has this name.') : nothing}
          <ul class="queues">
            ${repeat(
              shown,
              ({ name }) => name,
              (queue) => queueItem(queue, now),
            )}
          </ul>`;
  const isWanted = ({ queue }: PendingPodView): boolean => queue !== '' && queue.toLowerCase().includes(wanted);
  return html`<div class="stack">
    ${panel('Queues', reclaimText(queues), body)} ${pendingPanel(overview, isWanted, now)} ${evictions(shown, now)}
  </div>`;
}

const RECLAIM: Readonly<Record<string, string>> = {
  Disabled: 'Reclaim is off: no pod is evicted for a queue below its guarantee.',
  DryRun: 'Reclaim is in dry run: no pod is evicted for a queue below its guarantee; the log says which would be.',
};

/** Without an object for the root, reclaim has its default. */
function reclaimText(queues: readonly QueueView[]): Shown {
  const mode = queues.find(({ reclaim }) => reclaim !== '')?.reclaim ?? DEFAULT_RECLAIM.mode;
  const text = queues.length === 0 ? undefined : RECLAIM[mode];
  return text === undefined ? nothing : html`<p>${badge(modeText(mode))} ${text}</p>`;
}

/** A queue with its bars. */
export function queueItem(queue: QueueView, now: number): Shown {
  const { name, parent, depth, weight, policy, resources, conditions } = queue;
  return html`<li class="queue depth-${Math.min(depth, 6)}">
    <div class="queue-head">
      <h3>${name}</h3>
      ${parent === '' ? nothing : html`<span class="quiet small">in ${parent}</span>`} ${badge(`weight ${weight}`)}
      ${policy === 'Default' ? nothing : badge(policy)} ${waiting(queue, now)}
    </div>
    ${troubleList(conditions)}
    <div class="queue-bars">${resources.map(resourceBar)}</div>
  </li>`;
}

function waiting({ waitingPods, oldestWaiting }: QueueView, now: number): Shown {
  if (waitingPods === 0) return html`<span class="quiet small">nothing waits</span>`;
  const since = oldestWaiting === undefined ? '' : `, the oldest for ${duration(Math.max(0, now - oldestWaiting))}`;
  return html`<span class="waiting">${waitingPods} ${waitingPods === 1 ? 'pod waits' : 'pods wait'}${since}</span>`;
}

/** Whether a queue uses more than it deserves; both are shares of one bar. */
export function isOver({ used, deserved }: QueueResourceView): boolean {
  return used !== undefined && deserved !== undefined && used.ratio > deserved.ratio;
}

function resourceBar(resource: QueueResourceView): TemplateResult {
  const texts = inOneUnit(AMOUNTS.map(([name]) => resource[name]?.text));
  const said = AMOUNTS.flatMap(([, title], index) => (texts[index] === undefined ? [] : `${title} ${texts[index]}`));
  const text = said.join(', ');
  const ratio = (name: AmountName): number => resource[name]?.ratio ?? 0;
  return html`<div class="queue-bar">
    <span class="pod">${resource.name}</span>
    ${markedBar(
      `${resource.name}: ${text}`,
      { used: ratio('used'), added: ratio('pending') },
      LINES.map((name) => [name, resource[name]?.ratio]),
    )}
    <span class="small quiet" aria-hidden="true">${text}</span>
  </div>`;
}

/** Pods that made room in any queue, newest first. */
function evictions(queues: readonly QueueView[], now: number): Shown {
  const all = queues.flatMap(({ name, evicted }) => evicted.map((each) => ({ ...each, queue: name })));
  if (all.length === 0) return nothing;
  const columns: readonly Column[] = [
    ['', 'Time'],
    ['', 'Pod'],
    ['', 'Node'],
    ['', 'For queue'],
    ['', 'Reason'],
  ];
  const rows = all
    .sort((a, b) => b.at - a.at)
    .map(({ at, pod, node, queue, why }): Row => [
      ['time', moment(at, now)],
      ['', podLink(pod)],
      ['', nodeLink(node)],
      ['', queue],
      ['reason', why || undefined],
    ]);
  return panel('Pods evicted to make room', table('Pods evicted to make room for queues, newest first', columns, rows));
}
