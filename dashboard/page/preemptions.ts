/** Which pods made room for which, why, and where both run now. */
import { html, nothing } from 'lit-html';
import type { PreemptionView } from '#dashboard/views/view.ts';
import type { Context, Page, Shown } from './context.ts';
import { type Column, empty, moment, nodeLink, panel, podLink, type Row, table } from './parts.ts';

const NONE = 'No preemption is recorded. Preemptions appear here if the record of removed pods is on.';
const COLUMNS: readonly Column[] = [
  ['', 'Time'],
  ['', 'Preempted pod'],
  ['', 'Made room for'],
  ['', 'Node'],
  ['', 'Outcome'],
  ['', 'Reason'],
];

export function preemptionsPage(): Page {
  return { title: 'Preemptions', render: preemptionsView };
}

function preemptionsView({ preemptions, now }: Context): Shown {
  if (preemptions.length === 0) return html`<div class="stack">${panel('Preemptions', empty(NONE))}</div>`;
  const rows = preemptions.map((each) => rowOf(each, now));
  return html`<div class="stack">${panel('Preemptions', table('Preemptions, newest first', COLUMNS, rows))}</div>`;
}

function rowOf(preemption: PreemptionView, now: number): Row {
  const { at, victim, priority, className, node, madeRoomFor, preemptorPriority, preemptorClassName, why } = preemption;
  return [
    ['time', moment(at, now)],
    ['', withPriority(victim, priority, className)],
    [
      '',
      preemptorPriority === undefined ? undefined : withPriority(madeRoomFor, preemptorPriority, preemptorClassName),
    ],
    ['', node === '' ? undefined : nodeLink(node)],
    ['', outcome(preemption)],
    ['reason', why || undefined],
  ];
}

function withPriority(pod: string, priority: number, className: string): Shown {
  return html`<div>
    ${podLink(pod)}
    <div class="quiet small">
      priority ${priority.toLocaleString('en-GB')}${className === '' ? '' : ` (${className})`}
    </div>
  </div>`;
}

function outcome({ nominatedNode, placedOn, replacement }: PreemptionView): Shown {
  const room = nominatedNode === '' ? nothing : html`<div>room set aside on ${nodeLink(nominatedNode)}</div>`;
  const placed = placedOn === '' ? html`<div>not placed yet</div>` : html`<div>placed on ${nodeLink(placedOn)}</div>`;
  const again = replacement === '' ? nothing : html`<div class="quiet small">replaced by ${replacement}</div>`;
  return html`${room}${placed}${again}`;
}
