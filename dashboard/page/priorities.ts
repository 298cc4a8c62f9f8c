/** Quotas with their usage and holders, the policies for classes, and priority classes with their descriptions. */
import { html, nothing } from 'lit-html';
import type {
  ClassRuleView,
  ClassView,
  PolicyView,
  QuotaResourceView,
  QuotaShareView,
  QuotaView,
  ReservationView,
} from '#dashboard/views/view.ts';
import { inOneUnit } from '#dashboard/views/one-unit.ts';
import type { Context, Page, Shown } from './context.ts';
import { percent } from './format.ts';
import { badge, type Column, empty, meter, moment, panel, podLink, type Row, table, tableSection } from './parts.ts';

export function prioritiesPage(): Page {
  return { title: 'Priorities and quotas', render: prioritiesView };
}

function prioritiesView({ classes, quotas, policies, now }: Context): Shown {
  return html`<div class="stack">
    ${quotaPanel(quotas)} ${quotas.map((quota) => holdersPanel(quota, now))} ${policyPanel(policies)}
    ${classPanel(classes)}
  </div>`;
}

function quotaPanel(quotas: readonly QuotaView[]): Shown {
  const title = 'Quotas by priority';
  return panel(title, quotas.length === 0 ? empty('No quota counts a priority class.') : quotaTable(quotas));
}

/** One row per resource of these quotas. */
export function quotaTable(quotas: readonly QuotaView[]): Shown {
  const columns: readonly Column[] = [
    ['', 'Quota'],
    ['', 'Counts'],
    ['', 'Resource'],
    ['number', 'Used'],
    ['number', 'Hard'],
    ['wide', 'Share'],
  ];
  const rows = quotas.flatMap((quota) =>
    quota.resources.map((resource): Row => {
      const [used, hard] = inOneUnit([resource.used, resource.hard]);
      return [
        ['', quotaName(quota)],
        ['', quota.scope],
        ['pod', resource.name],
        ['number', used],
        ['number', hard],
        ['wide', share(resource)],
      ];
    }),
  );
  return table('Quotas by priority, used and hard', columns, rows);
}

/**
 * The holders of a PriorityQuota: namespaces, pods that are charged but not observed yet, and replicas of the webhook.
 */
function holdersPanel({ kind, name, shares, reservations, slices }: QuotaView, now: number): Shown {
  if (kind !== 'PriorityQuota' || shares.length + reservations.length + slices.length === 0) return nothing;
  const amounts: Column = ['', 'Requests'];
  const tables: readonly (readonly [string, readonly Column[], readonly Row[]])[] = [
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

function shareRow({ namespace, amounts }: QuotaShareView): Row {
  return [
    ['', html`<a class="pod" href=${`#/namespaces/${encodeURIComponent(namespace)}`}>${namespace}</a>`],
    ['', amounts],
  ];
}

function reservationRow({ pod, amounts, admittedAt }: ReservationView, now: number): Row {
  return [
    ['', podLink(pod)],
    ['', amounts],
    ['time', moment(admittedAt, now)],
  ];
}

function policyPanel(policies: readonly PolicyView[]): Shown {
  if (policies.length === 0) return nothing;
  const columns: readonly Column[] = [
    ['', 'Policy'],
    ['', 'Namespaces'],
    ['', 'Concerns'],
    ['', 'Classes'],
    ['', 'Preemption'],
    ['', 'Otherwise'],
  ];
  const rows = policies.map((policy): Row => [
    ['pod', policy.name],
    ['pod', policy.namespaces || 'all'],
    ['', policy.subjects.length === 0 ? 'everyone' : policy.subjects.join(', ')],
    ['', classesOf(policy)],
    ['', policy.preemption === 'Allow' ? 'allowed' : 'never'],
    ['', policy.onViolation === 'Deny' ? 'refused' : 'a warning'],
  ]);
  return panel('Priority policies', table('Priority policies by name', columns, rows));
}

function classesOf({ allowedClasses, defaultClass, classRules, limits }: PolicyView): string {
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
function ruleText({ className, ownerKinds, pods }: ClassRuleView): string {
  const owners = ownerKinds.length === 0 ? 'pods' : ownerKinds.join(', ');
  return `${className} for ${owners}${pods === '' ? '' : ` (${pods})`}`;
}

function quotaName({ kind, namespace, name }: QuotaView): Shown {
  const full = namespace === '' ? name : `${namespace}/${name}`;
  return html`<div>
    <b class="pod">${full}</b>
    <div class="quiet small">${kind}</div>
  </div>`;
}

function share({ usedRatio, name }: QuotaResourceView): Shown | undefined {
  if (usedRatio === undefined) return undefined;
  const state = usedRatio >= 1 ? 'state-Hard' : usedRatio >= 0.9 ? 'state-Near' : '';
  return meter(usedRatio, undefined, `${percent(usedRatio)} of ${name} used`, state);
}

function classPanel(classes: readonly ClassView[]): Shown {
  if (classes.length === 0) return panel('Priority classes', empty('No priority class was read yet.'));
  const columns: readonly Column[] = [
    ['', 'Class'],
    ['number', 'Priority'],
    ['', 'Preemption'],
    ['', 'Description'],
  ];
  const rows = classes.map(({ name, value, preempts, optedOut, isDefault, description }): Row => [
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
