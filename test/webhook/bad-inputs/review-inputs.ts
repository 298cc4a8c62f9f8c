import { createPodReview, pod, review } from '#test/webhook/support/reviews.ts';
import {
  ALLOWED,
  badInput,
  DENIED_400,
  DENIED_403,
  DENIED_413,
  FITTING,
  metadata,
  PODS,
  rawSpec,
  REFUSED,
  reviewText,
  spec,
  TOO_LARGE,
  type BadInput,
} from './bad-input.ts';

const MIB = 1024 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json' };

function nested(depth: number, open: string, close: string): string {
  return open.repeat(depth) + close.repeat(depth);
}

function keys(count: number): string {
  return `{${Array.from({ length: count }, (_, index) => `"k${index}":"v"`).join(',')}}`;
}

/** What the API server stores and sends on below managedFields: any JSON, in any encoding. */
const MANAGED_FIELDS: readonly (readonly [string, string])[] = [
  ['199 deep', nested(199, '{"f:a":', '}').replace(':}', ':{}}')],
  ['9,990 deep', nested(9_990, '{"f:a":', '}').replace(':}', ':{}}')],
  ['of arrays 9,990 deep', nested(9_990, '[', ']')],
  ['of a million arrays', `[${'[],'.repeat(900_000)}[]]`],
  ['that are no UTF-8', '{"f:\u00ff\u00fe":{}}'],
  ['with doubled keys', '{"f:spec":{},"f:spec":{"f:priorityClassName":{}}}'],
  ['with prototype keys', '{"__proto__":{"f:spec":{"f:priorityClassName":{}}}}'],
];

function managedFields(fields: string): string {
  return metadata({ managedFields: 'HERE' }).replace('"HERE"', `[{"manager":"m","fieldsV1":${fields}}]`);
}

const BODIES: readonly BadInput[] = [
  ...['', 'null', '[]', '"x"', '{', `\ufeff${spec(FITTING)}`, '{}{}'].map((body) =>
    badInput('B-01', `body ${JSON.stringify(body.slice(0, 12))}`, body, REFUSED),
  ),
  badInput('B-01', 'two reviews', spec(FITTING) + spec(FITTING), DENIED_400),
  badInput('B-01', 'a review cut off', spec(FITTING).slice(0, -1), DENIED_400),
  badInput('B-01', 'a review cut off of a pod being deleted', spec(FITTING).slice(0, -1), REFUSED, {
    path: '/validate/deletions',
  }),
  badInput('B-01', 'a body that is no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), REFUSED),
  ...['GET', 'PUT'].map((method) => badInput('B-02', method, '', { status: 405 }, { method })),
  badInput('B-02', 'a wrong path', spec(FITTING), { status: 404 }, { path: '/mutate/x' }),
  ...['text/plain', 'application/yaml'].map((type) =>
    badInput('B-02', `content type ${type}`, '{}', { status: 415 }, { headers: { 'Content-Type': type } }),
  ),
  badInput('B-02', 'no content type', '{}', { status: 415 }, { headers: {} }),
  badInput(
    'B-02',
    'a compressed body',
    '{}',
    { status: 415 },
    { headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } },
  ),
  badInput('B-03', '9 MiB', Buffer.alloc(9 * MIB, 0x20), TOO_LARGE, { cpuMs: 500 }),
  badInput('B-03', '9 MiB in chunks without a length', Buffer.alloc(9 * MIB, 0x20), TOO_LARGE, {
    headers: { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' },
    cpuMs: 500,
  }),
  badInput('B-03', 'a length of 9 MiB and a short body', '{}', TOO_LARGE, {
    headers: { ...JSON_TYPE, 'Content-Length': String(9 * MIB) },
  }),
  badInput(
    'B-03',
    'a length that is too short',
    `{}${' '.repeat(100)}`,
    { status: 400, isBare: true },
    {
      headers: { ...JSON_TYPE, 'Content-Length': '1' },
    },
  ),
];

const SHAPES: readonly BadInput[] = [
  ...[201, 5_000, 1_000_000].flatMap((depth) => [
    badInput('B-04', `arrays ${depth} deep`, nested(depth, '[', ']'), REFUSED),
    badInput('B-04', `objects ${depth} deep`, reviewText(nested(depth, '{"a":', '}').replace(':}', ':1}')), REFUSED),
    badInput('B-04', `both ${depth} deep`, reviewText(`${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`), REFUSED),
  ]),
  badInput('B-04', 'brackets in a string', metadata({ annotations: { deep: '['.repeat(5_000) } }), ALLOWED),
  ...[201, 5_000, 1_000_000].flatMap((depth) =>
    ['/mutate', '/validate', '/validate/quota', '/validate/templates'].map((path) =>
      badInput('B-04', `a review ${depth} deep on ${path}`, rawSpec(`"deep":${nested(depth, '[', ']')}`), DENIED_400, {
        path,
      }),
    ),
  ),
  ...MANAGED_FIELDS.map(([what, fields]) =>
    badInput('B-04', `managedFields ${what}`, Buffer.from(managedFields(fields), 'latin1'), ALLOWED, { cpuMs: 100 }),
  ),
  ...[12_000, 200_000, 1_000_000].map((count) =>
    badInput('B-05', `${count} labels`, metadata({ labels: 'HERE' }).replace('"HERE"', keys(count)), DENIED_413, {
      cpuMs: 500,
    }),
  ),
  badInput(
    'B-05',
    '200,000 labels of a pod being deleted',
    metadata({ labels: 'HERE' }).replace('"HERE"', keys(200_000)),
    TOO_LARGE,
    {
      path: '/validate/deletions',
      cpuMs: 500,
    },
  ),
  badInput('B-05', '10,000 labels', metadata({ labels: 'HERE' }).replace('"HERE"', keys(10_000)), ALLOWED),
  badInput('B-06', 'a pod in which everything is to be set', spec({}), { ...ALLOWED, operations: 3 }),
];

const REQUESTS: readonly BadInput[] = [
  badInput('B-07', 'no request', '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', REFUSED),
  ...['{}', '{"uid":""}', '{"uid":5}', `{"uid":"${'u'.repeat(10_000)}"}`].map((request) =>
    badInput('B-07', `request ${request.slice(0, 20)}`, reviewText(request), REFUSED),
  ),
  ...['admission.k8s.io/v2', 'admission.k8s.io/v1beta1', 'admission.example.com/v1', 'v1'].map((version) =>
    badInput('B-08', `apiVersion ${version}`, spec(FITTING).replace('admission.k8s.io/v1', version), REFUSED),
  ),
  badInput('B-08', 'kind Pod', spec(FITTING).replace('"kind":"AdmissionReview"', '"kind":"Pod"'), REFUSED),
  ...['CONNECT', 'create', 'PATCH', undefined].map((operation) =>
    badInput('B-10', `operation ${String(operation)}`, createPodReview(pod(FITTING), { operation }), DENIED_400),
  ),
  badInput(
    'B-10',
    'another resource',
    createPodReview(pod(FITTING), { resource: { ...PODS, resource: 'widgets' } }),
    DENIED_400,
  ),
  badInput('B-10', 'another subresource', createPodReview(pod(FITTING), { subResource: 'future' }), DENIED_400),
  badInput('B-11', 'CREATE without an object', createPodReview(pod(FITTING), { object: null }), DENIED_400),
  badInput(
    'B-11',
    'UPDATE without an old object',
    createPodReview(pod(FITTING), { operation: 'UPDATE', oldObject: null }),
    DENIED_400,
    { path: '/validate/quota' },
  ),
  badInput(
    'B-11',
    'DELETE without an old object',
    review({ operation: 'DELETE', resource: PODS, oldObject: null }),
    DENIED_400,
    { path: '/validate/deletions' },
  ),
  badInput(
    'B-11',
    'DELETE of a collection',
    review({ operation: 'DELETE', resource: PODS, name: '', oldObject: pod(FITTING) }),
    ALLOWED,
    { path: '/validate/deletions' },
  ),
];

const KEYS: readonly BadInput[] = [
  badInput('B-13', 'prototype keys', rawSpec('"__proto__":{"allowed":true},"constructor":{},"prototype":1'), ALLOWED),
  badInput(
    'B-13',
    'prototype keys in labels and amounts',
    metadata({ labels: 'HERE' }).replace('"HERE"', '{"__proto__":"x","constructor":"y"}'),
    ALLOWED,
  ),
  badInput(
    'B-13',
    'a prototype that allows an unknown class',
    rawSpec('"__proto__":{"priorityClassName":"standard"},"priorityClassName":"gold"'),
    DENIED_403,
  ),
  badInput('B-13', 'a prototype in place of a request', reviewText('{"__proto__":{"allowed":true}}'), REFUSED),
  badInput(
    'B-13',
    'a prototype that holds a request',
    '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","__proto__":{"request":{"uid":"x"}}}',
    REFUSED,
  ),
  ...['/mutate', '/validate'].map((path) =>
    badInput(
      'B-14',
      `doubled keys: the last counts on ${path}`,
      rawSpec('"priorityClassName":"standard","priorityClassName":"missing"'),
      DENIED_403,
      { path },
    ),
  ),
  ...['1e400', '9223372036854775807', '1.5', '"5"', '-0', '2147483648'].map((number) =>
    badInput('B-15', `priority ${number}`, rawSpec(`"priority":${number}`), DENIED_400),
  ),
];

/** HTTP and AdmissionReview: B-01 to B-15, but for B-09 (a sequence) and B-12 (evictions). */
export const REVIEW_INPUTS: readonly BadInput[] = [...BODIES, ...SHAPES, ...REQUESTS, ...KEYS];
