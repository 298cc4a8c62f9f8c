import { describe, expect, test } from 'vitest';
import { describePodHolders, priorityQuotaExceeded } from '#shared/domain/admission/quota-refusals.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { buildClass, buildClassQuota, buildRequest, buildWorld, NOW } from '#test/build/admission.ts';
import { amountsOf, buildPod, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';

function holder(name: string, memory: string, priorityClassName = 'high', namespace = 'team-a'): Pod {
  const spec = { priorityClassName, priority: 1_000 };
  return buildPod({ name, namespace, requests: { memory }, spec });
}

const PODS = [
  holder('small', '512Mi'),
  holder('big', '2Gi'),
  holder('even', '2Gi'),
  holder('tiny', '1Mi'),
  holder('idle', '0'),
];

const LARGEST = '`big` (2Gi), `even` (2Gi), `small` (512Mi) and 1 more';

function describeHolders(pods: readonly Pod[], isPartial = false): string {
  return describePodHolders({ pods, isPartial }, ({ name }) => name !== 'not-counted', 'requests.memory', NOW);
}

describe('describePodHolders', () => {
  test.each([
    ['the largest first, equal ones by name, and how many more hold some', PODS, LARGEST],
    ['the same whatever comes first', PODS.toReversed(), LARGEST],
    ['no holders if none is known', [], ''],
    ['no holders that the quota does not count', [holder('not-counted', '1Gi')], ''],
  ])('names %s', (_, pods, text) => {
    expect(describeHolders(pods)).toBe(text);
  });

  test('says if not all pods were read', () => {
    expect([describeHolders(PODS, true), describeHolders([holder('one', '1Gi')], true)]).toEqual([
      '`big` (2Gi), `even` (2Gi), `small` (512Mi) and at least 1 more',
      '`one` (1Gi) and perhaps more',
    ]);
  });
});

describe('a refusal by quota', () => {
  const FULL_QUOTA = {
    quota: 'high-tier',
    resource: 'requests.memory',
    priorityClassName: 'high',
    asked: '1Gi',
    others: [],
  } as const;
  const request = buildRequest(
    { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' },
    {},
    { requests: { memory: '1Gi' } },
  );

  test('names the largest pods for a quota of a class in the namespace', () => {
    const cluster = buildWorld({
      classes: [buildClass('high', 1_000)],
      quotas: [
        buildClassQuota('high-tier', 'high', {
          hard: { 'requests.memory': '5Gi' },
          used: { 'requests.memory': '4609Mi' },
        }),
      ],
      knownPods: [...PODS, holder('low', '9Gi', 'low'), holder('away', '9Gi', 'high', 'team-b')],
    });
    expect(decideValidation(request, cluster).because.text).toBe(
      MESSAGES.quotaExceeded.text({
        ...FULL_QUOTA,
        where: 'in namespace `team-a`',
        hard: '5Gi',
        used: '4609Mi',
        free: '511Mi',
        holders: [PHRASES.largestPods(LARGEST)],
      }),
    );
  });

  test('names namespaces and own pods, but no other pods, for a quota across namespaces', () => {
    const quota = {
      name: 'high-tier',
      namespaces: prepareSelector(selectorOf({})),
      scope: { kind: 'classes', names: new Set(['high']) },
      hard: amountsOf({ 'requests.memory': '8Gi' }),
      ...PLAIN_QUOTA,
    } as const;
    const [asked, used, hard] = [...amountsOf({ asked: '1Gi', used: '8Gi', hard: '8Gi' }).values()];
    if (asked === undefined || used === undefined || hard === undefined) throw new Error('three amounts');
    const exceeded = [{ resource: 'requests.memory', asked, used, hard }];
    const holders = {
      namespaces: ['team-b', 'team-a'],
      knownPods: { pods: [...PODS, holder('away', '9Gi', 'high', 'team-b')], isPartial: false },
      now: NOW,
    };
    expect(priorityQuotaExceeded(quota, request.pod, exceeded, holders)?.because.text).toBe(
      MESSAGES.quotaExceeded.text({
        ...FULL_QUOTA,
        where: 'over all its namespaces',
        hard: '8Gi',
        used: '8Gi',
        free: undefined,
        holders: [PHRASES.largestNamespaces('`team-b`, `team-a`'), PHRASES.largestPodsIn('team-a', LARGEST)],
      }),
    );
  });
});
