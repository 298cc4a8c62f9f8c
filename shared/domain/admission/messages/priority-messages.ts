import type { Message } from '#shared/domain/admission/decision.ts';
import { PREEMPT_LOWER_PRIORITY } from '#shared/domain/priority/classes-and-policies.ts';

/** Sentences that are appended to others, and the warnings that accompany an allowed request. */
export const PHRASES = {
  dryRun: (text: string) => `(dry run) ${text}`,
  schedulerOfPolicy: (policy: string, scheduler: string) =>
    `; policy \`${policy}\` gives it scheduler \`${scheduler}\``,
  keptAwayFrom: (nodes: readonly string[], owner: string) =>
    `; kept away from ${firstNamed(nodes)}, where pods of ${owner} were evicted`,
  movedToSpareRoom: (requested: string) => `; its requests ${requested} become requests of spare room`,
  podsWouldMove: (requested: string) =>
    `pods of this template run in spare room: their requests ${requested} become requests of plimsoll.dev/spare-cpu and plimsoll.dev/spare-memory, and they are evicted first when their node runs short`,
  spareNotGranted: () =>
    'annotation `plimsoll.dev/spare` has no effect: no PriorityPolicy here grants spare room to such a pod, so it keeps its requests',
  classJustChanged: (text: string) => `${text}; if the class has just been changed, try again`,
  withoutQuotaLabel: (label: string) => `but this namespace has no label ${label}`,
  defaultNotGiven: () =>
    'but this pod did not get it: the webhook did not answer in time, or the policy has just changed; try again, or set spec.priorityClassName',
  podsWouldBeRefused: (text: string) => `pods of this template would be refused: ${text}`,
  unconfirmed: (ageSeconds: number | undefined, cause: string) =>
    `as of ${ageSeconds === undefined ? 'earlier' : `${ageSeconds} s ago`}: cannot read the current state: ${cause}`,
  budgetAllowsNone: (budget: string) => `The disruption budget ${budget} does not allow evicting pods currently`,
  largestNamespaces: (names: string) => `largest holders: ${names}`,
  largestPods: (pods: string) => `largest pods: ${pods}`,
  largestPodsIn: (namespace: string, pods: string) => `largest pods in \`${namespace}\`: ${pods}`,
  noGlobalDefault: () =>
    'there is no global default class any more: new pods without a class get priority 0 unless a PriorityPolicy sets a default',
  podsKeepPriority: (name: string, pods: string) =>
    `pods use ${classNamed(name)} and keep their priority, but new ones that name it will be refused: ${pods}`,
  quotasNameClass: (name: string, quotas: string) => `ResourceQuotas name ${classNamed(name)}: ${quotas}`,
  longGracePeriod: (priority: number, preemptor: string, seconds: number) =>
    `spec.terminationGracePeriodSeconds: a pod that preempts this one (priority ${priority}, below class \`${preemptor}\`) may have to wait ${seconds} s for it to end`,
  neverPreemptsInQuota: (name: string, quota: string) =>
    `${classNamed(name)} never preempts: within quota \`${quota}\` it gets only room that is already free`,
  affinityToLowerPriority: (path: string, priority: number, pods: string) =>
    `${path}: this pod (priority ${priority}) has required affinity to pods of lower priority: ${pods}; the scheduler does not preempt these for it, and it cannot be scheduled once others preempt them`,
} as const;

const MAX_NAMED = 3;

function firstNamed(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A priority class by name. */
export interface NamedClass {
  /** Empty for a pod without a class. */
  readonly priorityClassName: string;
}

/** A priority class and its value. */
export interface GivenClass extends NamedClass {
  readonly priority: number;
}

/** Says which policy decides. */
export interface OfPolicy {
  readonly policy: string;
}

/** What went wrong, as a clause. */
export interface WithCause {
  readonly cause: string;
}

/** A class by its name. */
export function classNamed(name: string): string {
  return `priority class \`${name}\``;
}

/** A class with its value. */
function classWithValue({ priorityClassName, priority }: GivenClass): string {
  return `${classNamed(priorityClassName)} (${priority})`;
}

/** Says that a class does not exist. */
export function missing({ priorityClassName }: NamedClass): string {
  return `${classNamed(priorityClassName)} does not exist`;
}

/** A pod by its class. */
export function podOf({ priorityClassName: name }: NamedClass): string {
  return name === '' ? 'a pod without a priority class' : classNamed(name);
}

/** Pods by their class. */
export function podsOf({ priorityClassName: name }: NamedClass): string {
  return name === '' ? 'pods without a priority class' : classNamed(name);
}

const MAX_COUNTS = 3;

/** The first items of a list, and how many more there are: `a, b, c and 4 more`. */
export function listSome(texts: readonly string[], isPartial = false): string {
  const more = texts.length - MAX_COUNTS;
  if (more > 0) return `${texts.slice(0, MAX_COUNTS).join(', ')} and ${isPartial ? 'at least ' : ''}${more} more`;
  return `${texts.join(', ')}${isPartial ? ' and perhaps more' : ''}`;
}

/** Keeps a sentence with the list below 5 KiB, the part of a message that the API server shows. */
const MAX_CLASS_LIST = 1_500;

/** Names of classes in words: `none`, or as many as a message has room for and how many more there are. */
export function listClasses(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown: string[] = [];
  let length = 0;
  for (const name of names) {
    length += name.length + CLASS_SEPARATION;
    if (length > MAX_CLASS_LIST) break;
    shown.push(`\`${name}\``);
  }
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Quotes, comma and space. */
const CLASS_SEPARATION = 4;

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
