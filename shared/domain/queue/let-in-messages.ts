import { reason } from '#shared/domain/base/because.ts';

/* Why pods are let in, and why they wait. */

interface InQueue {
  readonly queue: string;
}

export const WITHIN_SHARE = reason<InQueue>(
  'WithinShare',
  ({ queue }) => `queue ${queue} stays within what it deserves`,
);
export const FROM_REST = reason<InQueue>(
  'FromRest',
  ({ queue }) => `queue ${queue} takes what no queue can use of its share`,
);
export const OUTSTANDING = reason<InQueue & { readonly type: string; readonly amount: string }>(
  'SharesOutstanding',
  ({ queue, type, amount }) =>
    `pods of queue ${queue} that were let in earlier and have no node may start at any time and request ${amount} ${type}, as much as its maximum beside what it uses; delete them, or let them start`,
);
export const BEHIND = reason<InQueue & { readonly first: string }>(
  'BehindAnother',
  ({ queue, first }) => `waits behind pod ${first}: queue ${queue} lets pods in strictly in order`,
);
export const NOT_CHARGED = reason<object>(
  'NotCharged',
  () => 'waits until the quotas of its namespace have counted it',
);
export const NO_SHARE = reason<InQueue>(
  'UnknownShare',
  ({ queue }) => `waits until the share of queue ${queue} is known`,
);
export const NEXT_PASS = reason<object>('NextPass', () => 'is let in by the next pass');
