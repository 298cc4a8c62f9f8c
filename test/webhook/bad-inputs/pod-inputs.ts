import { createPodReview, pod } from '#test/webhook/support/reviews.ts';
import {
  ALLOWED,
  badInput,
  DENIED_400,
  DENIED_403,
  FITTING,
  metadata,
  rawSpec,
  spec,
  type BadInput,
  type Expected,
} from './bad-input.ts';

const MIRROR = { annotations: { 'kubernetes.io/config.mirror': 'x' } };

const PRIORITIES: readonly BadInput[] = [
  ...['""', 'null'].map((name) => badInput('B-16', `class ${name}`, rawSpec(`"priorityClassName":${name}`), ALLOWED)),
  ...['gold', 'g'.repeat(254), 'Standard', 'standard ', 'a/b'].map((name) =>
    badInput('B-16', `class ${name.slice(0, 12)}`, spec({ priorityClassName: name }), DENIED_403),
  ),
  badInput('B-17', 'an equal priority', spec({ ...FITTING, priority: 100 }), ALLOWED),
  badInput('B-17', 'a different priority', spec({ ...FITTING, priority: 101 }), DENIED_403),
  badInput(
    'B-18',
    'two default classes: the lower one is what a pod without a class has',
    spec(FITTING),
    { ...ALLOWED, operations: 0 },
    {},
  ),
  badInput('B-18', 'two default classes: a number of the higher one', spec({ priority: 500 }), DENIED_403),
  ...[
    ['highest', 1_000_000_000],
    ['lowest', -(2 ** 31)],
  ].map(([priorityClassName, priority]) =>
    badInput('B-19', `class value ${String(priority)}`, spec({ ...FITTING, priorityClassName, priority }), ALLOWED, {
      path: '/validate',
    }),
  ),
  ...['Sometimes', 'never', 'Never'].map((policy) =>
    badInput('B-21', `preemptionPolicy ${policy}`, spec({ ...FITTING, preemptionPolicy: policy }), DENIED_403),
  ),
  badInput(
    'B-21',
    'a pod that preempts, of a class that never does',
    spec({ priorityClassName: 'patient', priority: 50, preemptionPolicy: 'PreemptLowerPriority' }),
    DENIED_403,
  ),
];

const NAMES: readonly BadInput[] = ['pöd', '\u202egnp', 'a\u0000b', '🐳', '\ud800', 'e\u0301', 'a'.repeat(254)].flatMap(
  (name) => [
    badInput('B-22', `a pod named ${JSON.stringify(name.slice(0, 9))}`, metadata({ name }), {
      ...ALLOWED,
      operations: 0,
    }),
    badInput('B-22', `a pod named ${JSON.stringify(name.slice(0, 9))}, validated`, metadata({ name }), DENIED_400, {
      path: '/validate',
    }),
  ],
);

function containers(count: number, more: object = {}): object[] {
  return Array.from({ length: count }, (_, index) => ({ name: `c${index}`, ...more }));
}

const CONTAINERS: readonly BadInput[] = [
  badInput('B-23', 'no containers', spec({ ...FITTING, containers: [] }), ALLOWED),
  badInput('B-23', '5,000 containers', spec({ ...FITTING, containers: containers(5_000) }), ALLOWED),
  badInput(
    'B-23',
    '250 init containers and sidecars',
    spec({
      ...FITTING,
      initContainers: [...containers(125), ...containers(125, { restartPolicy: 'Always' })],
    }),
    ALLOWED,
    { path: '/validate' },
  ),
  badInput('B-23', 'ephemeral containers', spec({ ...FITTING, ephemeralContainers: containers(3) }), ALLOWED, {
    path: '/validate',
  }),
  ...(
    [
      ['requests above limits', { requests: { cpu: '2' }, limits: { cpu: '1' } }],
      ['requests alone', { requests: { cpu: '2' } }],
      ['limits alone', { limits: { cpu: '2' } }],
      ['a part of a device', { requests: { 'example.com/gpu': 1.5 } }],
      ['a huge page of an odd size', { requests: { 'hugepages-3Mi': '3Mi' } }],
    ] as const
  ).flatMap(([what, resources]) =>
    ['/mutate', '/validate'].map((path) =>
      badInput('B-26', `${what} on ${path}`, spec({ ...FITTING, containers: [{ name: 'c', resources }] }), ALLOWED, {
        path,
      }),
    ),
  ),
];

/** None of these bypasses a policy: each is handled like any other pod. */
const STATES: readonly (readonly [string, object, object])[] = [
  ['a deletion timestamp', { deletionTimestamp: '2026-01-01T00:00:00Z' }, {}],
  ['finalizers', { finalizers: ['example.com/x'] }, {}],
  ['a negative grace period', { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: -5 }, {}],
  [
    'Succeeded with running containers',
    {},
    { phase: 'Succeeded', containerStatuses: [{ name: 'main', state: { running: {} } }] },
  ],
];

function inState(podSpec: object, more: object, status: object): string {
  return createPodReview({ ...pod({ ...podSpec }, { ...more }), status });
}

const ENDING: readonly BadInput[] = STATES.flatMap(([what, more, status]) =>
  (
    [
      [FITTING, ALLOWED],
      [{ priorityClassName: 'gold' }, DENIED_403],
    ] as readonly (readonly [object, Expected])[]
  ).map(([podSpec, expected]) =>
    badInput(
      'B-24',
      `${what}, ${expected === ALLOWED ? 'fitting' : 'of an unknown class'}`,
      inState(podSpec, more, status),
      expected,
      { path: '/validate' },
    ),
  ),
);

/** Pod content: B-16 to B-26, but for B-20 (a sequence). */
export const POD_INPUTS: readonly BadInput[] = [
  ...PRIORITIES,
  ...NAMES,
  ...CONTAINERS,
  ...ENDING,
  badInput(
    'B-25',
    'a tenant who sets the mirror annotation',
    createPodReview(pod({ priorityClassName: 'gold' }, MIRROR)),
    DENIED_403,
  ),
];
