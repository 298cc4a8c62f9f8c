import { createPodReview, pod, review } from './reviews.ts';

/** What must be answered: a status code of HTTP, and for a review what it says. */
export interface Expected {
  readonly status: number;
  readonly allowed?: boolean;
  readonly code?: number;
}

export interface BadInput {
  readonly id: string;
  readonly what: string;
  readonly path?: string;
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly expected: Expected;
}

const REFUSED: Expected = { status: 400 };
const DENIED_400: Expected = { status: 200, allowed: false, code: 400 };
const DENIED_403: Expected = { status: 200, allowed: false, code: 403 };
const ALLOWED: Expected = { status: 200, allowed: true };

const PODS = { group: '', version: 'v1', resource: 'pods' };
const FITTING = { priorityClassName: 'standard', priority: 100, preemptionPolicy: 'PreemptLowerPriority' };

function spec(more: object): string {
  return createPodReview(pod(more as never));
}

function reviewText(request: string): string {
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":${request}}`;
}

/** A pod with a raw piece of JSON in its spec: numbers that no JavaScript value can hold. */
function rawSpec(piece: string): string {
  return spec({ marker: 'HERE' }).replace('"marker":"HERE"', piece);
}

function nested(depth: number, open: string, close: string): string {
  return open.repeat(depth) + close.repeat(depth);
}

function keys(count: number, value: string): string {
  return `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(',')}}`;
}

function input(
  id: string,
  what: string,
  body: string | Buffer,
  expected: Expected,
  more: Partial<BadInput> = {},
): BadInput {
  return { id, what, body, expected, ...more };
}

/** The inputs of reference/bad-inputs-and-faults.md section 4 that reach the webhook. */
export const BAD_INPUTS: readonly BadInput[] = [
  ...['', 'null', '[]', '"x"', '{', '\ufeff{}', '{}{}'].map((body) =>
    input('B-01', `body ${JSON.stringify(body)}`, body, REFUSED),
  ),
  input('B-01', 'a body that is no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), REFUSED),
  input('B-02', 'a wrong path', '{}', { status: 404 }, { path: '/mutate/x' }),
  ...['text/plain', 'application/yaml'].map((type) =>
    input('B-02', `content type ${type}`, '{}', { status: 415 }, { headers: { 'Content-Type': type } }),
  ),
  input('B-02', 'no content type', '{}', { status: 415 }, { headers: {} }),
  input(
    'B-02',
    'a compressed body',
    '{}',
    { status: 415 },
    { headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' } },
  ),
  input('B-03', 'a body of 9 MiB', Buffer.alloc(9 * 1024 * 1024, 0x20), { status: 413 }),
  ...[201, 5_000, 1_000_000].flatMap((depth) => [
    input('B-04', `arrays ${depth} deep`, nested(depth, '[', ']'), REFUSED),
    input(
      'B-04',
      `objects ${depth} deep in a review`,
      reviewText(nested(depth, '{"a":', '}').replace(':}', ':1}')),
      REFUSED,
    ),
  ]),
  input(
    'B-04',
    'brackets inside a string',
    createPodReview(pod(FITTING, { annotations: { deep: '['.repeat(5_000) } })),
    ALLOWED,
  ),
  input(
    'B-05',
    '200,000 labels',
    createPodReview(pod(FITTING, { labels: JSON.parse(keys(200_000, '"v"')) as object })),
    ALLOWED,
  ),
  input('B-07', 'no request', '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', REFUSED),
  ...['{}', '{"uid":""}', '{"uid":5}', `{"uid":"${'u'.repeat(10_000)}"}`].map((request) =>
    input('B-07', `request ${request.slice(0, 20)}`, reviewText(request), REFUSED),
  ),
  ...['admission.k8s.io/v2', 'admission.k8s.io/v1beta1', 'v1'].map((version) =>
    input('B-08', `apiVersion ${version}`, spec(FITTING).replace('admission.k8s.io/v1', version), REFUSED),
  ),
  input('B-08', 'kind Pod', spec(FITTING).replace('"kind":"AdmissionReview"', '"kind":"Pod"'), REFUSED),
  ...['create', 'PATCH', undefined].map((operation) =>
    input('B-10', `operation ${String(operation)}`, createPodReview(pod(FITTING), { operation }), DENIED_400),
  ),
  input(
    'B-10',
    'another resource',
    createPodReview(pod(FITTING), { resource: { ...PODS, resource: 'widgets' } }),
    DENIED_400,
  ),
  input('B-10', 'another subresource', createPodReview(pod(FITTING), { subResource: 'future' }), DENIED_400),
  input('B-11', 'CREATE without an object', createPodReview(pod(FITTING), { object: null }), DENIED_400),
  input(
    'B-11',
    'DELETE without an old object',
    review({ operation: 'DELETE', resource: PODS, oldObject: null }),
    DENIED_400,
    {
      path: '/validate/deletions',
    },
  ),
  input(
    'B-11',
    'DELETE of a collection',
    review({ operation: 'DELETE', resource: PODS, oldObject: pod(FITTING) }),
    ALLOWED,
    {
      path: '/validate/deletions',
    },
  ),
  ...[
    ['policy/v2', 'web'],
    ['policy/v1', 'other'],
  ].map(([apiVersion, name]) =>
    input('B-12', `Eviction of ${String(apiVersion)} for ${String(name)}`, eviction(apiVersion, name), DENIED_400, {
      path: '/validate/evictions',
    }),
  ),
  ...['policy/v1', 'policy/v1beta1'].map((apiVersion) =>
    input('B-12', `Eviction of ${apiVersion}`, eviction(apiVersion, 'web'), ALLOWED, { path: '/validate/evictions' }),
  ),
  input('B-13', 'prototype keys', rawSpec('"__proto__":{"allowed":true},"constructor":{},"prototype":1'), ALLOWED),
  input(
    'B-13',
    'a prototype as request',
    '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","__proto__":{"request":{"uid":"x"}}}',
    REFUSED,
  ),
  input(
    'B-14',
    'doubled keys: the last counts',
    rawSpec('"priorityClassName":"standard","priorityClassName":"gold"'),
    DENIED_403,
  ),
  ...['1e400', '9223372036854775807', '1.5', '"5"', '-0', '2147483648'].map((number) =>
    input('B-15', `priority ${number}`, rawSpec(`"priority":${number}`), DENIED_400),
  ),
  ...['""', 'null'].map((name) => input('B-16', `class ${name}`, rawSpec(`"priorityClassName":${name}`), ALLOWED)),
  ...['gold', 'g'.repeat(254), 'Standard', 'standard ', 'a/b'].map((name) =>
    input('B-16', `class ${name.slice(0, 12)}`, spec({ priorityClassName: name }), DENIED_403),
  ),
  input('B-17', 'an equal priority', spec({ ...FITTING, priority: 100 }), ALLOWED),
  input('B-17', 'a different priority', spec({ ...FITTING, priority: 101 }), DENIED_403),
  ...['Sometimes', 'never', 'Never'].map((policy) =>
    input('B-21', `preemptionPolicy ${policy}`, spec({ ...FITTING, preemptionPolicy: policy }), DENIED_403),
  ),
  ...['pöd', '\u202egnp', 'a\u0000b', '🐳', '\ud800'].map((name) =>
    input('B-22', `a pod named ${JSON.stringify(name)}`, createPodReview(pod(FITTING, { name })), ALLOWED, {
      path: '/mutate',
    }),
  ),
  input('B-23', 'no containers', spec({ ...FITTING, containers: [] }), ALLOWED),
  input(
    'B-23',
    '5,000 containers',
    spec({ ...FITTING, containers: Array.from({ length: 5_000 }, (_, index) => ({ name: `c${index}` })) }),
    ALLOWED,
  ),
  input(
    'B-25',
    'a tenant who sets the mirror annotation',
    createPodReview(pod({ priorityClassName: 'gold' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } })),
    DENIED_403,
  ),
  input(
    'B-26',
    'requests above limits',
    spec({ ...FITTING, containers: [{ name: 'c', resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }] }),
    ALLOWED,
  ),
  input(
    'B-34',
    'a quantity of 100,000 digits',
    spec({ ...FITTING, containers: [{ name: 'c', resources: { requests: { cpu: '1'.repeat(100_000) } } }] }),
    DENIED_400,
  ),
  input(
    'B-31',
    'an exponent of twenty digits',
    spec({ ...FITTING, containers: [{ name: 'c', resources: { requests: { cpu: '1e-99999999999999999999' } } }] }),
    DENIED_400,
  ),
];

function eviction(apiVersion: unknown, name: unknown): string {
  return review({
    operation: 'CREATE',
    resource: PODS,
    subResource: 'eviction',
    name: 'web',
    namespace: 'team-a',
    object: { apiVersion, kind: 'Eviction', metadata: { name, namespace: 'team-a' } },
  });
}
