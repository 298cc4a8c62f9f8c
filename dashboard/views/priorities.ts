import { type Fields, fieldsOf, instantOf, integerOf, listOf, textOf } from '#shared/api/fields.ts';
import { readableAmount } from '#shared/domain/quantity/format-quantity.ts';
import { ANNOTATION_ALLOW_PREEMPTION, FOREIGN_ALLOW_PREEMPTION } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { limitTexts, type PolicySubject } from '#shared/domain/priority/classes-and-policies.ts';
import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import { selectorText } from '#shared/kube/list/read-some.ts';
import { shareOf } from './node-view.ts';
import type { ClassView, QuotaResourceView, QuotaView, ReservationView, PolicyView } from './view.ts';

const MAX_NAME_LENGTH = 253;
const MAX_DESCRIPTION_LENGTH = 2_048;
const MAX_NAMES = 64;
const MAX_SHARES = 256;
const MAX_RESERVATIONS = 200;

/** One PriorityClass, with its description as plain text (design source mechanism S1-6). Never throws. */
export function classView(object: KubeObject): ClassView {
  const { annotations = {} } = object.metadata;
  const wish = annotations[ANNOTATION_ALLOW_PREEMPTION] ?? annotations[FOREIGN_ALLOW_PREEMPTION];
  return {
    name: object.metadata.name ?? '',
    value: integerOf(object['value']) ?? 0,
    isDefault: object['globalDefault'] === true,
    preempts: object['preemptionPolicy'] !== 'Never',
    optedOut: wish === 'false',
    description: textOf(object['description'], MAX_DESCRIPTION_LENGTH) ?? '',
  };
}

/** A PriorityQuota with the counts of its ledger. Never throws. */
export function priorityQuotaView(object: KubeObject): QuotaView {
  const [spec, status] = [fieldsOf(object['spec']), fieldsOf(object['status'])];
  const range = fieldsOf(spec['priority']);
  const classes = namesIn(spec['priorityClassNames']);
  const scope =
    classes === '' ? `priority ${integerOf(range['min']) ?? '…'} to ${integerOf(range['max']) ?? '…'}` : classes;
  return {
    kind: 'PriorityQuota',
    name: object.metadata.name ?? '',
    namespace: '',
    scope,
    resources: resourcesOf(fieldsOf(spec['hard']), fieldsOf(status['used'])),
    shares: listOf(status['byNamespace'], MAX_SHARES, ({ namespace, used }) => {
      return { namespace: textOf(namespace, MAX_NAME_LENGTH) ?? '', amounts: amountsText(used) };
    }),
    reservations: reservationsOf(status['reservations']),
    slices: listOf(status['slices'], MAX_NAMES, ({ holder, amounts }) => {
      return { holder: textOf(holder, MAX_NAME_LENGTH) ?? '', amounts: amountsText(amounts) };
    }),
  };
}

function reservationsOf(list: unknown): readonly ReservationView[] {
  const read = listOf(list, MAX_RESERVATIONS, ({ namespace, pod, amounts, admittedAt }) => ({
    pod: `${textOf(namespace, MAX_NAME_LENGTH) ?? ''}/${textOf(pod, MAX_NAME_LENGTH) ?? ''}`,
    amounts: amountsText(amounts),
    admittedAt: instantOf(admittedAt),
  }));
  return [...read].sort((a, b) => (b.admittedAt ?? 0) - (a.admittedAt ?? 0));
}

function amountsText(amounts: unknown): string {
  const entries = Object.entries(fieldsOf(amounts)).slice(0, MAX_NAMES);
  return entries.map(([name, amount]) => `${readableAmount(amountText(amount))} ${name}`).join(', ');
}

/** A ResourceQuota that counts only some classes; `undefined` for any other. Never throws. */
export function resourceQuotaView(object: KubeObject): QuotaView | undefined {
  const spec = fieldsOf(object['spec']);
  const scope = classesOf(fieldsOf(spec['scopeSelector'])['matchExpressions']);
  if (scope === undefined) return undefined;
  const { name = '', namespace = '' } = object.metadata;
  const used = fieldsOf(fieldsOf(object['status'])['used']);
  const resources = resourcesOf(fieldsOf(spec['hard']), used);
  return { kind: 'ResourceQuota', name, namespace, scope, resources, shares: [], reservations: [], slices: [] };
}

function classesOf(expressions: unknown): string | undefined {
  const items: readonly unknown[] = Array.isArray(expressions) ? expressions : [];
  const term = items.map(fieldsOf).find(({ scopeName }) => scopeName === 'PriorityClass');
  if (term === undefined) return undefined;
  const operator = textOf(term['operator'], MAX_NAME_LENGTH) ?? '';
  return operator === 'In' ? namesIn(term['values']) : `${operator} ${namesIn(term['values'])}`.trim();
}

function namesIn(value: unknown): string {
  const names: readonly unknown[] = Array.isArray(value) ? value.slice(0, MAX_NAMES) : [];
  return names.filter((name) => typeof name === 'string').join(', ');
}

function resourcesOf(hard: Fields, used: Fields): readonly QuotaResourceView[] {
  return Object.keys(hard)
    .sort()
    .slice(0, MAX_NAMES)
    .map((name) => {
      const most = amountText(hard[name]);
      const taken = amountText(used[name]) || '0';
      return { name, used: readableAmount(taken), hard: readableAmount(most), usedRatio: shareOf(taken, most) };
    });
}

/** The API server stores the value as sent: a number or a text. */
function amountText(value: unknown): string {
  return typeof value === 'number' ? String(value) : (textOf(value, MAX_NAME_LENGTH) ?? '');
}

/** A PriorityPolicy; `undefined` if it cannot be decoded. Never throws. */
export function policyView(object: KubeObject): PolicyView | undefined {
  const decoded = decodePriorityPolicy(object);
  if (!decoded.ok) return undefined;
  const { name, namespaces, subjects, defaultClassName, classRules, allowedClassNames, ...rest } = decoded.value;
  return {
    name,
    namespaces: writtenText(namespaces),
    subjects: subjects.map(subjectText),
    defaultClass: defaultClassName ?? '',
    classRules: classRules.map(({ className, ownerKinds, pods }) => ({
      className,
      ownerKinds,
      pods: writtenText(pods),
    })),
    allowedClasses: allowedClassNames,
    preemption: rest.preemption,
    limits: limitTexts(decoded.value),
    onViolation: rest.onViolation,
  };
}

function writtenText({ written }: PreparedSelector): string {
  return written === undefined ? '' : selectorText(written);
}

function subjectText(subject: PolicySubject): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount ${subject.namespace}/${subject.name}`
    : `${subject.kind} ${subject.name}`;
}
