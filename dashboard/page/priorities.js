/** Quotas with what is used of them and by whom, and priority classes with their descriptions. */
import { html, nothing } from './library/library.js';
import { percent } from './format.js';
import { badge, empty, meter, panel, table } from './parts.js';

export function prioritiesPage() {
  return { title: 'Priorities and quotas', render: prioritiesView };
}

function prioritiesView({ classes, quotas }) {
  return html`<div class="stack">${quotaPanel(quotas)} ${classPanel(classes)}</div>`;
}

function quotaPanel(quotas) {
  if (quotas.length === 0) return panel('Quotas by priority', empty('No quota counts a priority class.'));
  const columns = [
    ['', 'Quota'],
    ['', 'Counts'],
    ['', 'Resource'],
    ['number', 'Used'],
    ['number', 'Hard'],
    ['wide', 'Share'],
  ];
  const rows = quotas.flatMap((quota) =>
    quota.resources.map((resource) => [
      ['', quotaName(quota)],
      ['', quota.scope],
      ['pod', resource.name],
      ['number', resource.used],
      ['number', resource.hard],
      ['wide', share(resource)],
    ]),
  );
  return panel('Quotas by priority', table('Quotas by priority, used and hard', columns, rows));
}

function quotaName({ kind, namespace, name }) {
  const full = namespace === '' ? name : `${namespace}/${name}`;
  return html`<div>
    <b class="pod">${full}</b>
    <div class="quiet small">${kind}</div>
  </div>`;
}

function share({ usedRatio, name }) {
  if (usedRatio === undefined) return undefined;
  const state = usedRatio >= 1 ? 'state-Hard' : usedRatio >= 0.9 ? 'state-Near' : '';
  return meter(usedRatio, undefined, `${percent(usedRatio)} of ${name} used`, state);
}

function classPanel(classes) {
  if (classes.length === 0) return panel('Priority classes', empty('No priority class was read yet.'));
  const columns = [
    ['', 'Class'],
    ['number', 'Priority'],
    ['', 'Preemption'],
    ['', 'Description'],
  ];
  const rows = classes.map(({ name, value, preempts, optedOut, isDefault, description }) => [
    ['', html`<div><b class="pod">${name}</b>${isDefault ? badge('default') : nothing}</div>`],
    ['number', value.toLocaleString('en-GB')],
    [
      '',
      [preempts ? 'preempts' : 'never preempts', optedOut ? 'opted out of preemption' : ''].filter(Boolean).join(', '),
    ],
    ['reason', description || undefined],
  ]);
  return panel('Priority classes', table('Priority classes, highest first', columns, rows));
}
