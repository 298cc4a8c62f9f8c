/** Priority classes with their descriptions, and quotas with what is used of them. */
import { bar, element, empty, panel, table } from './dom.js';
import { percent } from './format.js';

export function prioritiesPage() {
  const box = element('div', 'stack');
  return {
    element: box,
    title: 'Priorities',
    render({ classes, quotas }) {
      box.replaceChildren(quotaPanel(quotas), classPanel(classes));
    },
  };
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
  return element('div', '', element('b', 'pod', full), element('div', 'quiet small', kind));
}

function share({ usedRatio, name }) {
  if (usedRatio === undefined) return undefined;
  const meter = element('div', usedRatio >= 1 ? 'meter state-Hard' : usedRatio >= 0.9 ? 'meter state-Near' : 'meter');
  meter.append(
    bar(usedRatio, undefined, `${percent(usedRatio)} of ${name} used`),
    element('span', 'small', percent(usedRatio)),
  );
  return meter;
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
    ['', element('div', '', element('b', 'pod', name), isDefault ? element('span', 'badge', 'default') : '')],
    ['number', value.toLocaleString('en-GB')],
    [
      '',
      [preempts ? 'preempts' : 'never preempts', optedOut ? 'opted out of preemption' : ''].filter(Boolean).join(', '),
    ],
    ['reason', description || undefined],
  ]);
  return panel('Priority classes', table('Priority classes, highest first', columns, rows));
}
