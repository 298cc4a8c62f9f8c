import type { Message } from '#shared/domain/admission/decision.ts';
import { PREEMPT_LOWER_PRIORITY } from '#shared/domain/priority/priority-class.ts';
import {
  classNamed,
  classWithValue,
  type GivenClass,
  type NamedClass,
  type OfPolicy,
  PHRASES,
  type Ceiling,
  missing,
  podOf,
  podsOf,
  listSome,
  listClasses,
} from './wording.ts';

/** Sentences about which priority class a pod gets, and whether it may name it. */
export const CLASS_MESSAGES = {
  podUsesClass: {
    code: 'PriorityAccepted',
    status: 200,
    text: (v: GivenClass) => `pod uses ${classWithValue(v)}`,
  },
  classOfPolicy: {
    code: 'PriorityFromPolicy',
    status: 200,
    text: (v: GivenClass & OfPolicy) => `${classWithValue(v)} is the default of policy \`${v.policy}\``,
  },
  classOfRule: {
    code: 'PriorityFromPolicy',
    status: 200,
    text: (v: GivenClass & { readonly rule: string }) => `${classWithValue(v)} is given by rule \`${v.rule}\``,
  },
  classIsGlobalDefault: {
    code: 'PriorityAccepted',
    status: 200,
    text: (v: GivenClass) => `${classWithValue(v)} is the global default`,
  },
  classReplaced: {
    code: 'PrioritySubstituted',
    status: 200,
    text: (v: GivenClass & OfPolicy) =>
      `${classWithValue(v)} replaces a class that preempts, as policy \`${v.policy}\` says`,
  },
  noClass: {
    code: 'PriorityAccepted',
    status: 200,
    text: () => 'the pod names no priority class and there is no default',
  },
  classMayBeUsed: {
    code: 'PriorityAccepted',
    status: 200,
    text: ({ priorityClassName: name }: NamedClass) =>
      name === '' ? 'pod without a priority class' : `${classNamed(name)} may be used`,
  },
  unknownClass: {
    code: 'UnknownPriorityClass',
    status: 403,
    text: ({ apiServer }: { readonly apiServer: string }) => apiServer,
  },
  fieldsDifferFromClass: {
    code: 'PriorityMismatch',
    status: 403,
    text: ({ apiServer }: { readonly apiServer: string }) => apiServer,
  },
  classlessWithPriority: {
    code: 'PriorityMismatch',
    status: 403,
    text: (v: { readonly priority: number; readonly preemptionPolicy: string }) =>
      `a pod without a priority class must have priority 0 and preemptionPolicy \`${PREEMPT_LOWER_PRIORITY}\`, not ${v.priority} and \`${v.preemptionPolicy}\``,
  },
  forgedQosClass: {
    code: 'ForgedQosClass',
    status: 403,
    text: (v: { readonly computed: string; readonly shown: string }) =>
      `status.qosClass must be \`${v.computed}\`, which follows from the pod's requests and limits, not ${v.shown}`,
  },
} as const satisfies Record<string, Message<never>>;

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

/** Sentences about pod templates and changes of priority classes. */
export const TEMPLATE_MESSAGES = {
  templateAccepted: {
    code: 'TemplateAccepted',
    status: 200,
    text: () => 'the template may be used; each pod is checked when it is created',
  },
  templateClassUnknown: {
    code: 'UnknownPriorityClass',
    status: 200,
    text: (v: NamedClass) =>
      `pods of this template would be refused: no PriorityClass with name ${v.priorityClassName} was found`,
  },
  classChangeAccepted: { code: 'ClassChangeAccepted', status: 200, text: () => 'no policy depends on it' },
  classInUse: {
    code: 'ClassInUse',
    status: 403,
    text: (v: NamedClass & { readonly mentions: readonly string[] }) =>
      `${classNamed(v.priorityClassName)} cannot be deleted: it is referenced by ${listSome(v.mentions)}; remove these references first`,
  },
  secondGlobalDefault: {
    code: 'SecondGlobalDefault',
    status: 403,
    text: (v: NamedClass & { readonly globalDefault: string }) =>
      `${classNamed(v.priorityClassName)} cannot be the global default: \`${v.globalDefault}\` already is, and only one class can be`,
  },
} as const satisfies Record<string, Message<never>>;
