import type { Message } from '#shared/domain/admission/message.ts';
import type { Caused } from './wording.ts';

/** Sentences about requests that cannot be decided, and those without a decision. */
export const REQUEST_MESSAGES = {
  unreadableReview: {
    code: 'MalformedRequest',
    status: 400,
    text: ({ cause }: Caused) => cause,
  },
  reviewTooLarge: { code: 'ReviewTooLarge', status: 413, text: ({ cause }: Caused) => cause },
  malformed: {
    code: 'MalformedRequest',
    status: 400,
    text: ({ field, cause }: { readonly field: string } & Caused) => `${field}: ${cause}`,
  },
  unexpectedResource: {
    code: 'UnknownResource',
    status: 400,
    text: ({ expected, given }: { readonly expected: string; readonly given: string }) =>
      `request.resource: expected ${expected}, got "${given}"`,
  },
  overloaded: {
    code: 'Overloaded',
    status: 429,
    retryAfterSeconds: 1,
    text: ({ cause }: Caused) => `${cause}; try again`,
  },
  namespaceUnknown: {
    code: 'NamespaceUnknown',
    status: 429,
    retryAfterSeconds: 1,
    text: ({ namespace, cause }: { readonly namespace: string } & Caused) =>
      `cannot read namespace \`${namespace}\`, whose policies are not known yet: ${cause}; try again`,
  },
  changesNoPriority: {
    code: 'NothingToDecide',
    status: 200,
    text: ({ operation }: { readonly operation: string }) => `${operation} changes no priority`,
  },
  changesNoClass: { code: 'NothingToDecide', status: 200, text: () => 'CONNECT changes no class' },
  removesNoPod: {
    code: 'NothingToDecide',
    status: 200,
    text: ({ operation }: { readonly operation: string }) => `${operation} removes no pod`,
  },
  templateUnchanged: { code: 'NothingToDecide', status: 200, text: () => 'the template is unchanged' },
  noTemplate: { code: 'NothingToDecide', status: 200, text: () => 'there is no template' },
} as const satisfies Record<string, Message<never>>;
