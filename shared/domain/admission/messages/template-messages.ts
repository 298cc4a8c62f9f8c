import type { Message } from '#shared/domain/admission/message.ts';
import { listSome } from './list-some.ts';
import { classNamed, type NamedClass } from './wording.ts';

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
