/** Quotas with their usage and holders, the policies for classes, and priority classes with their descriptions. */
import { html, nothing } from './library/library.js';
import { percent } from './format.js';
import { badge, empty, meter, moment, panel, podLink, table, tableSection } from './parts.js';

export function prioritiesPage() {
  return { title: 'Priorities and quotas', render: prioritiesView };
}

function prioritiesView({ classes, quotas, policies, now }) {
  return html`<div class="stack">
    ${quotaPanel(quotas)} ${quotas.map((quota) => holdersPanel(quota, now))} ${policyPanel(policies)}
    ${classPanel(classes)}
  </div>`;
}

function quotaPanel(quotas) {
  const title = 'Quotas by priority';
  return panel(title, quotas.length === 0 ? empty('No quota counts a priority class.') : quotaTable(quotas));
}

/** One row per resource of these quotas. */
export function quotaTable(quotas) {
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
  return table('Quotas by priority, used and hard', columns, rows);
}

/**
 * The holders of a PriorityQuota: namespaces, pods that are charged but not observed yet, and replicas of the webhook.
 */
function holdersPanel({ kind, name, shares, reservations, slices }, now) {
  if (kind !== 'PriorityQuota' || shares.length + reservations.length + slices.length === 0) return nothing;
  const amounts = ['', 'Requests'];
  const tables = [
    ['Namespaces by usage', [['', 'Namespace'], amounts], shares.map(shareRow)],
    ['Reservations', [['', 'Pod'], amounts, ['', 'Since']], reservations.map((each) => reservationRow(each, now))],
    [
      'Slices of replicas',
      [['', 'Replica'], amounts],
      slices.map((each) => [
        ['pod', each.holder],
        ['', each.amounts],
      ]),
    ],
  ];
  return panel(
    `Holders of ${name}`,
    tables.map(([title, columns, rows]) => tableSection(title, columns, rows, `${title} of ${name}`)),
  );
}

function shareRow({ namespace, amounts }) {
  return [
    ['', html`<a class="pod" href=${`#/namespaces/${encodeURIComponent(namespace)}`}>${namespace}</a>`],
    ['', amounts],
  ];
}

function reservationRow({ pod, amounts, admittedAt }, now) {
  return [
    ['', podLink(pod)],
    ['', amounts],
    ['time', moment(admittedAt, now)],
  ];
}

function policyPanel(policies) {
  if (policies.length === 0) return nothing;
  const columns = [
    ['', 'Policy'],
    ['', 'Namespaces'],
    ['', 'Concerns'],
    ['', 'Classes'],
    ['', 'Preemption'],
    ['', 'Otherwise'],
  ];
  const rows = policies.map((policy) => [
    ['pod', policy.name],
    ['pod', policy.namespaces || 'all'],
    ['', policy.subjects.length === 0 ? 'everyone' : policy.subjects.join(', ')],
    ['', classesOf(policy)],
    ['', policy.preemption === 'Allow' ? 'allowed' : 'never'],
    ['', policy.onViolation === 'Deny' ? 'refused' : 'a warning'],
  ]);
  return panel('Priority policies', table('Priority policies by name', columns, rows));
}

function classesOf({ allowedClasses, defaultClass, classRules, limits }) {
  return [
    allowedClasses === undefined ? 'every class' : allowedClasses.join(', ') || 'none',
    ...classRules.map(ruleText),
    defaultClass === '' ? '' : `default ${defaultClass}`,
    ...limits,
  ]
    .filter(Boolean)
    .join('; ');
}

/** As in `batch-low for Job (app in (web))`. */
function ruleText({ className, ownerKinds, pods }) {
  const owners = ownerKinds.length === 0 ? 'pods' : ownerKinds.join(', ');
  return `${className} for ${owners}${pods === '' ? '' : ` (${pods})`}`;
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
