import { QUOTA_LABEL } from '#shared/kube/admission/judged-namespaces.ts';
import { describe, expect, test } from 'vitest';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import {
  buildClass,
  buildClassQuota,
  buildPolicy,
  buildRequest,
  buildWorld,
  type WorldFields,
} from '#test/build/admission.ts';
import { selectorOf } from '#test/build/cluster.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { patternOf } from '#test/build/pattern-of.ts';

const CLASSES = [
  buildClass('high', 1_000),
  buildClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
  buildClass('low', 10),
];
const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
const NEVER = { priorityClassName: 'high-never', priority: 1_000, preemptionPolicy: 'Never' };
const NONE = { priority: 0, preemptionPolicy: 'PreemptLowerPriority' };

interface Case {
  readonly request: PodRequest;
  readonly cluster?: WorldFields;
}

function decide({ request, cluster }: Case) {
  return decideValidation(request, buildWorld({ classes: CLASSES, ...cluster }));
}

describe('decideValidation', () => {
  const refused: Record<string, Case & { code: string; text: string | RegExp }> = {
    'a priority that another webhook changed after reinvocation': {
      request: buildRequest({ priorityClassName: 'low', priority: 4_242 }),
      code: 'PriorityMismatch',
      text: /\(4242\).*computed 10 from.*try again$/,
    },
    'a class that has gone since': {
      request: buildRequest({ priorityClassName: 'gone', priority: 1 }),
      code: 'UnknownPriorityClass',
      text: patternOf((pod) => PHRASES.classJustChanged(`${pod}no PriorityClass with name gone was found`)),
    },
    'a number without a class': {
      request: buildRequest({ priority: 5 }),
      code: 'PriorityMismatch',
      text: MESSAGES.classlessWithPriority.text({ priority: 5, preemptionPolicy: 'PreemptLowerPriority' }),
    },
    'a QoS class that does not follow from the spec': {
      request: forged('Burstable'),
      code: 'ForgedQosClass',
      text: MESSAGES.forgedQosClass.text({ computed: 'BestEffort', shown: '`Burstable`' }),
    },
    'a class outside the list': {
      request: buildRequest(HIGH),
      cluster: { policies: [buildPolicy('tenants', { allowedClassNames: ['low'] })] },
      code: 'ClassNotAllowed',
      text: MESSAGES.classNotAllowed.text({ policy: 'tenants', priorityClassName: 'high', allowed: ['low'] }),
    },
    'a pod without a class where only some classes are allowed': {
      request: buildRequest(NONE),
      cluster: { policies: [buildPolicy('tenants', { allowedClassNames: [] })] },
      code: 'ClassNotAllowed',
      text: MESSAGES.classNotAllowed.text({ policy: 'tenants', priorityClassName: '', allowed: [] }),
    },
    'a priority above the ceiling': {
      request: buildRequest(HIGH),
      cluster: { policies: [buildPolicy('tenants', { maxPriority: 999 })] },
      code: 'PriorityAboveCeiling',
      text: MESSAGES.priorityAboveCeiling.text({
        policy: 'tenants',
        maxPriority: 999,
        priorityClassName: 'high',
        priority: 1_000,
      }),
    },
    'a class that preempts where preemption is forbidden': {
      request: buildRequest(HIGH),
      cluster: {
        policies: [buildPolicy('tenants', { preemption: 'Never', substitutes: new Map([['high', 'high-never']]) })],
      },
      code: 'PreemptionNotAllowed',
      text: MESSAGES.preemptionNotAllowed.text({
        policy: 'tenants',
        priorityClassName: 'high',
        substitute: 'high-never',
      }),
    },
    'a class that needs a quota where there is none': {
      request: buildRequest(HIGH),
      cluster: { policies: [buildPolicy('tenants', { requireQuotaFor: ['high'] })] },
      code: 'QuotaRequired',
      text: MESSAGES.quotaLabelRequired.text({ policy: 'tenants', priorityClassName: 'high', label: QUOTA_LABEL }),
    },
    'what the strictest of several policies forbids': {
      request: buildRequest(HIGH),
      cluster: {
        policies: [buildPolicy('a', { allowedClassNames: ['high'] }), buildPolicy('b', { allowedClassNames: ['low'] })],
      },
      code: 'ClassNotAllowed',
      text: MESSAGES.classNotAllowed.text({ policy: 'b', priorityClassName: 'high', allowed: ['low'] }),
    },
    'what exceeds several limits of a quota': {
      request: buildRequest(HIGH, {}, { requests: { cpu: '2', memory: '1Gi' } }),
      cluster: {
        quotas: [
          buildClassQuota('q', 'high', {
            hard: { 'requests.cpu': '1', pods: '0' },
            used: { 'requests.cpu': '1500m', pods: '0' },
          }),
        ],
      },
      code: 'QuotaExceeded',
      text: MESSAGES.quotaExceeded.text({
        priorityClassName: 'high',
        quota: 'q',
        where: 'in namespace `team-a`',
        resource: 'pods',
        hard: '0',
        used: '0',
        asked: '1',
        free: undefined,
        others: ['requests.cpu'],
        amounts: [
          { resource: 'pods', asked: '1', used: '0', hard: '0' },
          { resource: 'requests.cpu', asked: '2', used: '1500m', hard: '1' },
        ],
        holders: [],
      }),
    },
    'a pod that states nothing of what its class’s quota limits': {
      request: buildRequest(HIGH),
      cluster: {
        quotas: [buildClassQuota('q', 'high', { hard: { 'requests.cpu': '1' }, used: { 'requests.cpu': '0' } })],
      },
      code: 'QuotaUnusable',
      text: /failed quota: q: must specify requests.cpu for: /,
    },
  };
  test.each(Object.entries(refused))('refuses %s', (_, { code, text, ...rest }) => {
    const decision = decide(rest);
    expect(decision).toMatchObject({ kind: 'refused', code: 403, because: { code } });
    expect(decision.because.text).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  });

  const allowed: Record<string, Case & { warnings?: readonly string[] }> = {
    'a pod that got no class before a default appeared': {
      request: buildRequest(NONE),
      cluster: { classes: [...CLASSES, buildClass('new', 50, { isGlobalDefault: true })] },
    },
    'a class that a quota covers': {
      request: buildRequest(HIGH),
      cluster: {
        policies: [buildPolicy('tenants', { requireQuotaFor: ['high'] })],
        quotas: [buildClassQuota('q', 'high', { hard: { pods: '9' }, used: { pods: '1' } })],
        labels: { 'plimsoll.dev/priority-quota': 'enforced' },
      },
    },
    'a priority at the ceiling': {
      request: buildRequest(HIGH),
      cluster: { policies: [buildPolicy('tenants', { maxPriority: 1_000 })] },
    },
    'what exceeds a quota that names no class, which the plugin refuses in its own words': {
      request: buildRequest(HIGH),
      cluster: {
        quotas: [{ ...buildClassQuota('q', 'high', { hard: { pods: '0' }, used: { pods: '0' } }), scopes: [] }],
      },
    },
    'what a policy for other namespaces forbids': {
      request: buildRequest(HIGH),
      cluster: {
        policies: [buildPolicy('p', { maxPriority: 0, namespaces: prepareSelector(selectorOf({ tier: 'x' })) })],
      },
    },
    'what a policy for other people forbids': {
      request: buildRequest(HIGH),
      cluster: { policies: [buildPolicy('p', { maxPriority: 0, subjects: [{ kind: 'User', name: 'bob' }] })] },
    },
    'what a policy only warns about, with the warning': {
      request: buildRequest(HIGH),
      cluster: { policies: [buildPolicy('p', { maxPriority: 0, onViolation: 'Warn' })] },
      warnings: [
        MESSAGES.priorityAboveCeiling.text({ policy: 'p', maxPriority: 0, priorityClassName: 'high', priority: 1_000 }),
      ],
    },
    'a long grace period below a class that preempts, with a warning': {
      request: buildRequest({ priorityClassName: 'low', priority: 10, terminationGracePeriodSeconds: 601 }),
      warnings: [PHRASES.longGracePeriod(10, 'high', 601)],
    },
    'a long grace period below several classes, with the lowest and first by name that preempts': {
      request: buildRequest({ priorityClassName: 'low', priority: 10, terminationGracePeriodSeconds: 601 }),
      cluster: {
        classes: [
          ...CLASSES,
          buildClass('mid-b', 20),
          buildClass('mid-a', 20),
          buildClass('mid-c', 20),
          buildClass('never', 15, { preemptionPolicy: 'Never' }),
        ],
      },
      warnings: [PHRASES.longGracePeriod(10, 'mid-a', 601)],
    },
    'a long grace period above every class that preempts': {
      request: buildRequest({ ...HIGH, terminationGracePeriodSeconds: 601 }),
    },
    'a grace period that is just not long': {
      request: buildRequest({ priorityClassName: 'low', priority: 10, terminationGracePeriodSeconds: 600 }),
    },
    'a class that never preempts with an unused quota, with a warning': {
      request: buildRequest(NEVER),
      cluster: { quotas: [buildClassQuota('q', 'high-never', { hard: { pods: '9' }, used: { pods: '0' } })] },
      warnings: [PHRASES.neverPreemptsInQuota('high-never', 'q')],
    },
  };
  test.each(Object.entries(allowed))('allows %s', (_, { warnings = [], ...rest }) => {
    expect(decide(rest)).toMatchObject({ kind: 'allowed', change: undefined, warnings });
  });

  const subjects: Record<string, PodRequest> = {
    'the user': buildRequest(HIGH, { requester: { name: 'bob', groups: [] } }),
    'the group': buildRequest(HIGH, { requester: { name: 'x', groups: ['ops'] } }),
    'the service account that asks': buildRequest(HIGH, {
      requester: { name: 'system:serviceaccount:ci:robot', groups: [] },
    }),
  };
  test.each(Object.entries(subjects))('applies a policy to %s', (_, request) => {
    const policy = buildPolicy('p', {
      maxPriority: 0,
      subjects: [
        { kind: 'User', name: 'bob' },
        { kind: 'Group', name: 'ops' },
        { kind: 'ServiceAccount', name: 'robot', namespace: 'ci' },
      ],
    });
    expect(decide({ request, cluster: { policies: [policy] } })).toMatchObject({ kind: 'refused' });
  });

  test('applies a policy to the service account that the pod runs as, regardless of the creator', () => {
    const policy = buildPolicy('p', {
      maxPriority: 0,
      subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'team-a' }],
    });
    const controller = { name: 'system:serviceaccount:kube-system:replicaset-controller', groups: [] };
    const request = buildRequest(HIGH, { serviceAccountName: 'robot', requester: controller });
    expect(decide({ request, cluster: { policies: [policy] } })).toMatchObject({ kind: 'refused' });
  });
});

test('a QoS class that an API server of 1.37 has computed is not doubted', () => {
  const request = forged('Burstable');
  expect(decide({ request: { ...request, pod: { ...request.pod, arithmetic: '1.37' } } })).toMatchObject({
    kind: 'allowed',
  });
});

function forged(qosClass: string): PodRequest {
  const request = buildRequest(NONE);
  return { ...request, pod: { ...request.pod, status: { ...request.pod.status, qosClass } } };
}
