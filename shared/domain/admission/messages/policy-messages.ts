import type { Message } from '#shared/domain/admission/message.ts';
import { listClasses } from '#shared/domain/priority/list-classes.ts';
import { PHRASES } from './phrases.ts';
import {
  type Ceiling,
  classNamed,
  type GivenClass,
  missing,
  type NamedClass,
  type OfPolicy,
  podOf,
  podsOf,
} from './wording.ts';

/** Sentences about what PriorityPolicies forbid, and quotas that require their label. */
export const POLICY_MESSAGES = {
  defaultNotGiven: {
    code: 'DefaultNotGiven',
    status: 403,
    text: (v: NamedClass & OfPolicy) =>
      `policy \`${v.policy}\` gives pods here ${classNamed(v.priorityClassName)}, ${PHRASES.defaultNotGiven()}`,
  },
  classNotAllowed: {
    code: 'ClassNotAllowed',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly allowed: readonly string[] }) =>
      `policy \`${v.policy}\` does not allow ${podsOf(v)} here; allowed: ${listClasses(v.allowed)}`,
  },
  priorityAboveCeiling: {
    code: 'PriorityAboveCeiling',
    status: 403,
    text: (v: GivenClass & OfPolicy & Ceiling) =>
      `policy \`${v.policy}\` allows a priority of at most ${v.maxPriority} here; ${podOf(v)} has ${v.priority}`,
  },
  missingClassUnderCeiling: {
    code: 'PriorityAboveCeiling',
    status: 403,
    text: (v: NamedClass & OfPolicy & Ceiling) =>
      `policy \`${v.policy}\` allows a priority of at most ${v.maxPriority} here; ${missing(v)}`,
  },
  preemptionNotAllowed: {
    code: 'PreemptionNotAllowed',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly substitute: string | undefined }) =>
      `policy \`${v.policy}\` forbids preemption here, but ${podOf(v)} preempts; use ${v.substitute === undefined ? 'a class with preemptionPolicy `Never`' : classNamed(v.substitute)}`,
  },
  missingClassMayPreempt: {
    code: 'PreemptionNotAllowed',
    status: 403,
    text: (v: NamedClass & OfPolicy) => `policy \`${v.policy}\` forbids preemption here; ${missing(v)}`,
  },
  quotaRequired: {
    code: 'QuotaRequired',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly namespace: string }) =>
      `policy \`${v.policy}\` allows ${classNamed(v.priorityClassName)} only where a quota covers it, and no quota in namespace \`${v.namespace}\` does`,
  },
  quotaLabelRequired: {
    code: 'QuotaRequired',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly label: string }) =>
      `policy \`${v.policy}\` allows ${classNamed(v.priorityClassName)} only where a quota covers it, ${PHRASES.withoutQuotaLabel(v.label)}`,
  },
  countedWithoutLabel: {
    code: 'QuotaLabelMissing',
    status: 403,
    text: (v: NamedClass & { readonly quota: string; readonly label: string }) =>
      `quota \`${v.quota}\` counts ${podsOf(v)} here, ${PHRASES.withoutQuotaLabel(v.label)}`,
  },
} as const satisfies Record<string, Message<never>>;
