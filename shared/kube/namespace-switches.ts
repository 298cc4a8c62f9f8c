import {
  DISRUPTION_LIMITS_ENFORCED,
  LABEL_DISRUPTION_LIMITS,
  LABEL_MANAGED,
  LABEL_PRIORITY_QUOTA,
  LABEL_QUEUES,
  PRIORITY_QUOTA_ENFORCED,
  QUEUES_MANAGED,
} from './api-names.ts';

/*
 * Which parts apply to the pods of a namespace. Each has a label of its own; `plimsoll.dev/managed: "true"` switches on
 * all whose own label is absent. Every selector, expression and look-up of these labels comes from here.
 */

/** A part, by its own label and the value that switches it on; any other value switches it off. */
export interface NamespaceSwitch {
  readonly key: string;
  readonly on: string;
}

export const NAMESPACE_SWITCHES = {
  quotas: { key: LABEL_PRIORITY_QUOTA, on: PRIORITY_QUOTA_ENFORCED },
  limits: { key: LABEL_DISRUPTION_LIMITS, on: DISRUPTION_LIMITS_ENFORCED },
  queues: { key: LABEL_QUEUES, on: QUEUES_MANAGED },
} as const satisfies Readonly<Record<string, NamespaceSwitch>>;

/** The label for all parts, as users write it. */
export const MANAGED_LABEL = `${LABEL_MANAGED}=true`;

const MANAGED = { key: LABEL_MANAGED, operator: 'In', values: ['true'] } as const;

export function isOn({ key, on }: NamespaceSwitch, labels: ReadonlyMap<string, string> | undefined): boolean {
  const own = labels?.get(key);
  return own === undefined ? labels?.get(LABEL_MANAGED) === 'true' : own === on;
}

/** A requirement of a label selector, as written in a manifest. */
export interface WrittenRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Where a part is on, as two selectors: one cannot say "or". No namespace meets both, so that nothing is judged twice. */
export interface Selecting {
  /** By the label of the part. */
  readonly own: readonly WrittenRequirement[];
  /** By the label for all parts. */
  readonly managed: readonly WrittenRequirement[];
}

export function selecting({ key, on }: NamespaceSwitch): Selecting {
  return {
    own: [{ key, operator: 'In', values: [on] }],
    managed: [MANAGED, { key, operator: 'DoesNotExist' }],
  };
}

/**
 * All namespaces, as three selectors of which each meets one: by the label of a part; by the label for all parts, with
 * those where the label of the part switches it off; and the rest, where the part is off.
 */
export function dividing({
  key,
  on,
}: NamespaceSwitch): Readonly<Record<'own' | 'managed' | 'rest', readonly WrittenRequirement[]>> {
  const isNotOwn = { key, operator: 'NotIn', values: [on] };
  return {
    own: selecting({ key, on }).own,
    managed: [MANAGED, isNotOwn],
    rest: [{ ...MANAGED, operator: 'NotIn' }, isNotOwn],
  };
}

/** Where a part is on, as queries of a list. */
export function queriesFor({ key, on }: NamespaceSwitch): readonly string[] {
  return [`${key}=${on}`, `${MANAGED_LABEL},!${key}`];
}

const LABELS_OF_NAMESPACE = 'namespaceObject.metadata.?labels.orValue({})';

/** The same as a CEL expression over a map of labels, by default those of the namespace of a request. */
export function celIsOn({ key, on }: NamespaceSwitch, labels = LABELS_OF_NAMESPACE): string {
  return `${labels}[?'${key}'].orValue(${labels}[?'${LABEL_MANAGED}'].orValue('') == 'true' ? '${on}' : '') == '${on}'`;
}

/** What the entry or binding for the label for all parts is called, beside the one for the label of the part. */
export function managedName(name: string): string {
  return `managed.${name}`;
}
