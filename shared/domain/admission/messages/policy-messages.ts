import type { Message } from '#shared/domain/admission/message.ts';
import { listClasses } from '#shared/domain/priority/list-classes.ts';
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

/** Sentences about what PriorityPolicies forbid. */
export const POLICY_MESSAGES = {
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
    text: (v: NamedClass & OfPolicy & { readonly namespace: string; readonly selecting: string | undefined }) =>
      `policy \`${v.policy}\` allows ${classNamed(v.priorityClassName)} only where a quota covers it, and no quota in namespace \`${v.namespace}\` does${v.selecting === undefined ? '' : `: quota \`${v.selecting}\` selects the namespace but is not in force there`}`,
  },
} as const satisfies Record<string, Message<never>>;
