/** Which pods made room for which, why, and where both run now. */
import { html, nothing } from './library/library.js';
import { empty, moment, nodeLink, panel, podLink, table } from './parts.js';

const NONE = 'No preemption is recorded. Preemptions appear here if the record of removed pods is on.';
const COLUMNS = [
  ['', 'Time'],
  ['', 'Preempted pod'],
  ['', 'Made room for'],
  ['', 'Node'],
  ['', 'Outcome'],
  ['', 'Reason'],
];

export function preemptionsPage() {
  return { title: 'Preemptions', render: preemptionsView };
}

function preemptionsView({ preemptions, now }) {
  if (preemptions.length === 0) return html`<div class="stack">${panel('Preemptions', empty(NONE))}</div>`;
  const rows = preemptions.map((each) => rowOf(each, now));
  return html`<div class="stack">${panel('Preemptions', table('Preemptions, newest first', COLUMNS, rows))}</div>`;
}

function rowOf(preemption, now) {
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

function withPriority(pod, priority, className) {
  return html`<div>
    ${podLink(pod)}
    <div class="quiet small">
      priority ${priority.toLocaleString('en-GB')}${className === '' ? '' : ` (${className})`}
    </div>
  </div>`;
}

function outcome({ nominatedNode, placedOn, replacement }) {
  const room = nominatedNode === '' ? nothing : html`<div>room set aside on ${nodeLink(nominatedNode)}</div>`;
  const placed = placedOn === '' ? html`<div>not placed yet</div>` : html`<div>placed on ${nodeLink(placedOn)}</div>`;
  const again = replacement === '' ? nothing : html`<div class="quiet small">replaced by ${replacement}</div>`;
  return html`${room}${placed}${again}`;
}
