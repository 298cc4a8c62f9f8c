/** One pod: refused, waiting, running or removed, why, what happened to it, and what would change it. */
import { html, nothing } from 'lit-html';
import { inOneUnit } from '#dashboard/views/one-unit.ts';
import type { PodView, RemovalView } from '#dashboard/views/pod.ts';
import type { NextView } from '#dashboard/views/view.ts';
import type { Context, Page, PageOptions, Shown } from './context.ts';
import { age, KINDS, shownState } from './format.ts';
import {
  type Cell,
  type Column,
  empty,
  moment,
  nodeLink,
  panel,
  podLink,
  queueLink,
  type Row,
  stateText,
  table,
} from './parts.ts';
import { isProblem, polled } from './polled.ts';
import { isOver, queueItem } from './queues.ts';

export function podPage({ name, redraw }: PageOptions): Page {
  const [namespace = '', pod = ''] = name.split('/');
  const answer = polled<PodView>(`/api/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`, redraw);
  return {
    title: name,
    hasHeading: true,
    render(context) {
      const value = answer.value();
      return html`<div class="stack">
        <p class="back"><a href=${`#/namespaces/${encodeURIComponent(namespace)}`}>← Namespace ${namespace}</a></p>
        ${value === undefined || isProblem(value) ? missing(name, value?.message) : podPanels(value, context)}
      </div>`;
    },
    close: answer.stop,
  };
}

function missing(name: string, problem: string | undefined): Shown {
  return html`<h1>${name}</h1>
    ${problem === undefined ? empty('Reading the pod…') : html`<p class="panel problem" role="alert">${problem}</p>`}`;
}

function podPanels(pod: PodView, context: Context): Shown {
  const { now } = context;
  return html`${headline(pod, now)}
  ${panel(STATES[pod.state].title, html`<p class="answer">${pod.why}</p>`, adviceOf(pod))}
  ${pod.state === 'Waits' ? queuePanel(pod, context) : nothing} ${pod.node === '' ? nothing : placePanel(pod, context)}
  ${removals(pod, now)} ${happened(pod)} ${notes(pod)}`;
}

const STATES: Readonly<
  Record<PodView['state'], { readonly word: string; readonly title: string; readonly className: string }>
> = {
  Refused: { word: '■ Refused', title: 'Why it was refused', className: 'state-Hard' },
  Waits: { word: '◆ Waits', title: 'What it waits for', className: 'state-Near' },
  Runs: { word: '● On a node', title: 'Where it is', className: 'state-Far' },
  Terminates: { word: '▲ Terminating', title: 'What happens to it', className: 'state-Soft' },
  Ended: { word: '○ Ended', title: 'How it ended', className: 'state-Unknown' },
  Removed: { word: '▲ Removed', title: 'Why it was removed', className: 'state-Soft' },
  Unknown: { word: '? Not found', title: 'What is known', className: 'state-Unknown' },
};

function headline(pod: PodView, now: number): Shown {
  const priority = pod.priority === undefined ? '' : `priority ${pod.priority.toLocaleString('en-GB')}`;
  const facts: readonly Shown[] = [
    pod.owner,
    [pod.className, priority].filter((each) => each !== '').join(', '),
    pod.requests === '' ? '' : `requests ${pod.requests}`,
    pod.usage === '' ? '' : `uses ${pod.usage}`,
    pod.createdAt === undefined ? '' : `created ${age(pod.createdAt, now)}`,
  ].filter((fact) => fact !== '');
  const { word, className } = STATES[pod.state];
  return html`<section class="headline">
    <h1>${pod.pod}</h1>
    <div class="badges">
      <span class="badge ${className}">${word}</span>
      ${pod.node === '' ? nothing : html`<span>${nodeLink(pod.node)}</span>`}
      ${pod.queue === '' ? nothing : html`<span>queue ${queueLink(pod.queue)}</span>`}
    </div>
    <p class="quiet">${facts.map((fact, index) => html`${index === 0 ? '' : ' · '}${fact}`)}</p>
  </section>`;
}

/** What would change it, by its state, and by the cause of its removal. */
const ADVICE: Readonly<Record<string, string>> = {
  Refused:
    'Request less, use a priority class that the namespace may use, or have the quota raised; the controller tries again by itself.',
  Waits:
    'It is placed once other pods give room back, or if it requests less. A higher priority class may let it go first, where policies and quotas allow one.',
  Runs: 'It is evicted later with usage within its request, or with a higher priority class. A DisruptionLimit or PodDisruptionBudget bounds how many pods of its owner are removed.',
  Eviction:
    'A pod that uses no more than it requests is evicted only after those that use more: raise the memory request to what it uses, or lower its usage.',
  KubeletEviction: 'The kubelet evicted it: raise the request to what it uses, or lower its usage.',
  OOMKill: 'The kernel killed it: raise its memory limit and request, or lower its usage.',
  Preemption:
    'A pod with a higher priority needed the room. A higher priority class protects it from that pod, and a class or annotation that opts out of preemption from most.',
  Reclaim:
    'Its queue used more than it deserves. A larger guaranteed amount or weight of the queue keeps its pods, or fewer pods in it.',
  Rescheduling: 'The rescheduler found a better node. A DisruptionLimit bounds how often that happens.',
};

function adviceOf({ state, code }: PodView): Shown {
  const text = ADVICE[state === 'Removed' ? code : state];
  return text === undefined
    ? nothing
    : html`<h3>What would change it</h3>
        <p>${text}</p>`;
}

/** Its queue, and which queues hold more than they deserve. */
function queuePanel({ queue: name }: PodView, { queues, now }: Context): Shown {
  const own = queues.find((each) => each.name === name);
  if (own === undefined) return nothing;
  const others = queues.filter((each) => each.name !== name && each.resources.some(isOver));
  return panel(
    'Who holds the room',
    html`<ul class="queues">
      ${queueItem(own, now)}
    </ul>`,
    others.length === 0
      ? html`<p>No other queue holds more than it deserves.</p>`
      : html`<p>
          More than they deserve hold:
          ${others.map((each, index) => html`${index === 0 ? '' : ', '}${queueLink(each.name)}`)}.
        </p>`,
  );
}

export const NEXT: readonly Column[] = [
  ['number', '#'],
  ['', 'Pod'],
  ['number', 'Priority'],
  ['number', 'Usage'],
  ['number', 'Request'],
  ['', 'Reason'],
];

/** Pods in the order in which they would be evicted, with amounts in one unit. */
export function nextRows(next: readonly NextView[]): readonly Row[] {
  const amounts = inOneUnit(next.flatMap(({ usage, request }) => [usage, request]));
  return next.map((pod, index) => nextRow({ ...pod, usage: amounts[2 * index], request: amounts[2 * index + 1] }));
}

function nextRow({ rank, pod, priority, usage, request, why }: NextView): Row {
  return [
    ['number', rank],
    ['', podLink(pod)],
    ['number', priority?.toLocaleString('en-GB')],
    ['number', usage],
    ['number', request],
    ['reason', why === '' ? undefined : why],
  ];
}

function placePanel({ place, before, node }: PodView, { nodes }: Context): Shown {
  const summary = nodes.get(node);
  const state = summary === undefined ? nothing : html`: ${stateText(shownState(summary))}`;
  const where = html`<p>Node ${nodeLink(node)}${state}</p>`;
  const title = 'If the node runs short';
  if (place === undefined)
    return panel(title, where, html`<p>It is not among the pods that the agent of the node would evict next.</p>`);
  const [first] = before;
  const text =
    first === undefined
      ? 'It would be evicted first.'
      : `${before.length === 1 ? '1 pod' : `${before.length} pods`} would be evicted before it.`;
  return panel(
    title,
    where,
    html`<p>${text}</p>`,
    table('Pods up to this one, in the order of eviction', NEXT, nextRows([...before, place])),
  );
}

const REMOVALS: readonly Column[] = [
  ['', 'Time'],
  ['', 'What happened'],
  ['', 'Node'],
  ['', 'What became of it'],
  ['', 'Reason'],
];

function removals({ removals: all }: PodView, now: number): Shown {
  if (all.length === 0) return nothing;
  return panel(
    'Record of removals',
    table(
      'Removals of pods of this name, newest first',
      REMOVALS,
      all.map((each) => removalRow(each, now)),
    ),
  );
}

function removalRow(removal: RemovalView, now: number): Row {
  const { at, kind, node, why } = removal;
  const cells: readonly Cell[] = [
    ['time', moment(at, now)],
    ['', html`<span class="kind kind-${kind}">${KINDS[kind]}</span>`],
    ['', node === '' ? undefined : nodeLink(node)],
    ['', outcomeOf(removal)],
    ['reason', why],
  ];
  return cells;
}

function outcomeOf({ madeRoomFor, placedOn, replacement, replacementNode }: RemovalView): Shown {
  const room = madeRoomFor === '' ? nothing : html`<div>made room for ${podLink(madeRoomFor)}</div>`;
  const placed = placedOn === '' ? nothing : html`<div>which was placed on ${nodeLink(placedOn)}</div>`;
  const again =
    replacement === '' ? nothing : html`<div>replaced by ${podLink(replacement)} on ${nodeLink(replacementNode)}</div>`;
  return html`${room}${placed}${again}`;
}

function happened({ happened: all }: PodView): Shown {
  if (all.length === 0) return nothing;
  return panel(
    'Events',
    html`<ul class="events">
      ${all.map(({ code, why }) => html`<li><b>${code}</b> ${why}</li>`)}
    </ul>`,
  );
}

function notes({ notes: all }: PodView): Shown {
  return all.length === 0 ? nothing : html`<p class="quiet small">${all.join('; ')}</p>`;
}
