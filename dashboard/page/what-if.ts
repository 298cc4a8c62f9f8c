/**
 * What a node would do with less of a resource, with another threshold, or with one more pod. The question is in the
 * address.
 */
import { html, nothing } from 'lit-html';
import type {
  PodAnswerView,
  PressureAnswerView,
  PreemptedView,
  RankedPodView,
  ThresholdView,
} from '#dashboard/what-if/answer.ts';
import { ACTING_SIGNALS } from '#shared/domain/pressure/signal.ts';
import type { Context, Page, PageOptions, Shown } from './context.ts';
import {
  badge,
  type Column,
  empty,
  modeText,
  type Option,
  panel,
  podLink,
  type Row,
  tableSection,
  written,
} from './parts.ts';
import { ask, type Problem } from './stream.ts';

const KINDS: readonly Option[] = [
  ['hard', 'Hard: evicts at once'],
  ['soft', 'Soft: evicts after a grace period'],
];
/** By question: the parameters that the server reads. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  pressure: ['node', 'signal', 'available', 'kind', 'threshold'],
  pod: ['node', 'cpu', 'memory', 'priorityClass'],
};
/** Suggestions while a name is typed. */
const MAX_NODES = 200;
const NOTHING_ASKED = { kind: 'nothing' } as const;

type Answer = { readonly kind: 'nothing' | 'waiting' } | Problem | PressureAnswerView | PodAnswerView;

export function whatIfPage({ redraw }: PageOptions): Page {
  let asked = '';
  let answer: Answer = NOTHING_ASKED;
  /** The answer to the question in the address; answers to earlier questions are dropped. */
  async function follow(question: string): Promise<void> {
    if (question === asked) return;
    asked = question;
    answer = question === '' ? NOTHING_ASKED : { kind: 'waiting' };
    if (question === '') return;
    const found = await ask<Answer>(`/api/what-if/${question}`);
    if (question !== asked) return;
    answer = found;
    redraw();
  }
  return {
    title: 'What if',
    render(context) {
      void follow(questionOf(context.params));
      return whatIfView(context, answer, () => {
        asked = '';
      });
    },
  };
}

/** `pressure?node=…` for the server; empty if the address contains no question. */
function questionOf(params: URLSearchParams): string {
  const kind = params.get('ask') ?? '';
  if (!Object.hasOwn(PARAMETERS, kind) || (params.get('node') ?? '') === '') return '';
  const given = (PARAMETERS[kind] ?? []).map((name) => [name, params.get(name) ?? '']);
  return `${kind}?${String(new URLSearchParams(given.filter(([, value]) => value !== '')))}`;
}

function whatIfView(context: Context, answer: Answer, again: () => void): Shown {
  return html`<div class="stack">
    ${panel('Less available, or another threshold', pressureForm(context, again))}
    ${panel('One more pod', podForm(context, again))}
    <section class="panel" aria-label="Answer" aria-live="polite">
      <h2>Answer</h2>
      ${answerView(answer)}
    </section>
  </div>`;
}

function pressureForm({ params, nodes, setParams }: Context, again: () => void): Shown {
  return form('pressure', 'Which pods would be evicted?', { setParams, again }, [
    nodeField('pressure', params, nodes),
    select(
      'signal',
      'Signal',
      ACTING_SIGNALS.map((name): Option => [name, name]),
      params,
    ),
    text('available', 'Available (empty: as last reported)', params, '200Mi'),
    select('kind', 'Threshold to replace', KINDS, params),
    text('threshold', 'New threshold (empty: as in the policy)', params, '1Gi or 10%'),
  ]);
}

function podForm({ params, nodes, classes, setParams }: Context, again: () => void): Shown {
  const named = classes.map(({ name, value }): Option => [name, `${name} (${value})`]);
  const options: readonly Option[] = [['', 'The default class'], ...named];
  return form('pod', 'Which pods would be preempted?', { setParams, again }, [
    nodeField('pod', params, nodes),
    text('cpu', 'CPU request', params, '500m'),
    text('memory', 'Memory request', params, '1Gi'),
    select('priorityClass', 'Priority class', options, params),
  ]);
}

interface Submit extends Pick<Context, 'setParams'> {
  readonly again: () => void;
}

function form(kind: string, button: string, { setParams, again }: Submit, fields: readonly Shown[]): Shown {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const cleared = Object.fromEntries(Object.values(PARAMETERS).flatMap((names) => names.map((name) => [name, ''])));
    const given = (PARAMETERS[kind] ?? []).map((name) => [name, written(event, name)] as const);
    again();
    setParams({ ...cleared, ask: kind, ...Object.fromEntries(given) });
  };
  return html`<form class="filters" aria-label=${button} @submit=${submit}>
    ${fields}<button class="primary">${button}</button>
  </form>`;
}

function nodeField(kind: string, params: URLSearchParams, nodes: Context['nodes']): Shown {
  const list = `nodes-for-${kind}`;
  const names = [...nodes.keys()].sort().slice(0, MAX_NODES);
  return html`<label class="field"
      ><span>Node</span
      ><input name="node" list=${list} autocomplete="off" required .value=${params.get('node') ?? ''} /></label
    ><datalist id=${list}>${names.map((name) => html`<option value=${name}></option>`)}</datalist>`;
}

function text(name: string, label: string, params: URLSearchParams, placeholder: string): Shown {
  return html`<label class="field"
    ><span>${label}</span
    ><input name=${name} autocomplete="off" placeholder=${placeholder} .value=${params.get(name) ?? ''}
  /></label>`;
}

function select(name: string, label: string, options: readonly Option[], params: URLSearchParams): Shown {
  const chosen = params.get(name) ?? options[0]?.[0];
  return html`<label class="field"
    ><span>${label}</span
    ><select name=${name}>
      ${options.map(([value, title]) => html`<option value=${value} ?selected=${value === chosen}>${title}</option>`)}
    </select></label
  >`;
}

function answerView(answer: Answer): Shown {
  switch (answer.kind) {
    case 'nothing':
      return empty('Ask one of the questions above. Nothing is changed in the cluster.');
    case 'waiting':
      return empty('Deciding…');
    case 'problem':
      return html`<p class="problem" role="alert">${answer.message}</p>`;
    case 'pressure':
      return pressureAnswer(answer);
    case 'pod':
      return podAnswer(answer);
  }
}

function pressureAnswer(answer: PressureAnswerView): Shown {
  const { message, why, mode, victims, order, kept, thresholds, notes } = answer;
  return html`<p><b>${message}</b> ${mode === 'DryRun' ? badge('dry run') : nothing}</p>
    <p>${why}</p>
    ${tableSection('Thresholds', THRESHOLD_COLUMNS, thresholds.map(thresholdRow))}
    ${tableSection(
      'Pods in the order in which they would be evicted',
      ORDER_COLUMNS,
      order.map((each) => orderRow(each, victims)),
    )}
    ${tableSection('Pods that would stay', KEPT_COLUMNS, kept.map(keptRow))} ${list(notes)}`;
}

const THRESHOLD_COLUMNS: readonly Column[] = [
  ['', 'Kind'],
  ['number', 'Least'],
  ['number', 'Grace period'],
  ['', 'Mode'],
  ['', 'Met'],
];
const MET = { true: 'yes', false: 'no', unknown: 'unknown' } as const;

function thresholdRow({ kind, least, gracePeriodSeconds, mode, met }: ThresholdView): Row {
  return [
    ['', kind],
    ['number', least || undefined],
    ['number', `${gracePeriodSeconds} s`],
    ['', modeText(mode)],
    ['', MET[String(met) as keyof typeof MET]],
  ];
}

const ORDER_COLUMNS: readonly Column[] = [
  ['number', 'Order'],
  ['', 'Pod'],
  ['number', 'Priority'],
  ['number', 'Usage'],
  ['number', 'Request'],
  ['', 'Reason'],
];

function orderRow(ranked: RankedPodView, victims: readonly string[]): Row {
  const { position, pod, priority, usage, request, why } = ranked;
  const isFirst = position <= victims.length;
  return [
    ['number', String(position)],
    ['', html`<div>${podLink(pod)} ${isFirst ? badge('would be evicted', 'strong') : nothing}</div>`],
    ['number', priority?.toLocaleString('en-GB')],
    ['number', usage || undefined],
    ['number', request || undefined],
    ['reason', why || undefined],
  ];
}

const KEPT_COLUMNS: readonly Column[] = [
  ['', 'Pod'],
  ['number', 'Priority'],
  ['', 'Why it stays'],
];

function keptRow({ pod, priority, why }: PressureAnswerView['kept'][number]): Row {
  return [
    ['', podLink(pod)],
    ['number', priority?.toLocaleString('en-GB')],
    ['reason', why || undefined],
  ];
}

const VICTIM_COLUMNS: readonly Column[] = [
  ['', 'Pod'],
  ['number', 'Priority'],
  ['', 'Class'],
];

function podAnswer({ message, why, priority, className, victims, reasons, notes }: PodAnswerView): Shown {
  const rows = victims.map(({ pod, priority: own, className: name }: PreemptedView): Row => [
    ['', podLink(pod)],
    ['number', own?.toLocaleString('en-GB')],
    ['', name || undefined],
  ]);
  return html`<p><b>${message}</b></p>
    <p>${why}</p>
    <p class="quiet">
      The pod has priority ${priority.toLocaleString('en-GB')}${className === '' ? '' : ` (${className})`}.
    </p>
    ${tableSection('Pods that would be preempted', VICTIM_COLUMNS, rows)} ${list(reasons)} ${list(notes)}`;
}

function list(texts: readonly string[]): Shown {
  if (texts.length === 0) return nothing;
  return html`<ul class="notes quiet small">
    ${texts.map((each) => html`<li>${each}</li>`)}
  </ul>`;
}
