import type { Message } from '#shared/domain/admission/message.ts';
import { PREEMPT_LOWER_PRIORITY } from '#shared/domain/priority/priority-class.ts';
import { classNamed, classWithValue, type GivenClass, type NamedClass, type OfPolicy } from './wording.ts';

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
