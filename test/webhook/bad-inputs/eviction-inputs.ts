import { review } from '#test/webhook/support/reviews.ts';
import { ALLOWED, badInput, DENIED_400, DENIED_403, DENIED_409, PODS, type BadInput } from './bad-input.ts';

const AGENT = {
  username: 'system:serviceaccount:plimsoll-node:plimsoll-agent',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['node-a'] },
};
const PATH = { path: '/validate/evictions' };
const RIGHT = { preconditions: { uid: 'uid-of-web' } };

function eviction(object: object, request: object = {}): string {
  const whole = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'web', namespace: 'team-a' },
    ...object,
  };
  return review({
    operation: 'CREATE',
    resource: PODS,
    subResource: 'eviction',
    name: 'web',
    namespace: 'team-a',
    object: whole,
    ...request,
  });
}

/** Unusual evictions, and the answer to our own agent; evictions by users are allowed. */
const OPTIONS: readonly (readonly [string, object | undefined, BadInput['expected']])[] = [
  ['no deleteOptions', undefined, DENIED_409],
  ["another pod's uid", { preconditions: { uid: 'uid-of-another' } }, DENIED_409],
  ['a resourceVersion alone', { preconditions: { resourceVersion: '0' } }, DENIED_409],
  ['a grace of -1', { ...RIGHT, gracePeriodSeconds: -1 }, DENIED_403],
  ['a grace of 0', { ...RIGHT, gracePeriodSeconds: 0 }, DENIED_403],
  ['a grace of 1e9', { ...RIGHT, gracePeriodSeconds: 1e9 }, ALLOWED],
  ['propagation Orphan', { ...RIGHT, propagationPolicy: 'Orphan' }, ALLOWED],
  ['dryRun Some', { ...RIGHT, dryRun: ['Some'] }, ALLOWED],
];

/** Evictions: B-12 and B-35. */
export const EVICTION_INPUTS: readonly BadInput[] = [
  ...['policy/v1', 'policy/v1beta1'].map((apiVersion) =>
    badInput('B-12', `Eviction of ${apiVersion}`, eviction({ apiVersion }), ALLOWED, PATH),
  ),
  badInput('B-12', 'Eviction of policy/v2', eviction({ apiVersion: 'policy/v2' }), DENIED_400, PATH),
  badInput('B-12', 'another name than in the URL', eviction({ metadata: { name: 'other' } }), DENIED_400, PATH),
  badInput('B-12', 'an empty name', eviction({ metadata: { name: '' } }), DENIED_400, PATH),
  badInput('B-12', 'no name at all', eviction({ metadata: { name: '' } }, { name: '' }), DENIED_400, PATH),
  ...OPTIONS.flatMap(([what, deleteOptions, expected]) => [
    badInput('B-35', `${what}, by a person`, eviction({ deleteOptions }), ALLOWED, PATH),
    badInput('B-35', `${what}, by the agent`, eviction({ deleteOptions }, { userInfo: AGENT }), expected, PATH),
  ]),
];
