import { describe, expect, test } from 'vitest';
import { because, allow, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { decideDisruption } from '#shared/domain/admission/decide-disruption.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { priorityQuotaExceeded } from '#shared/domain/admission/quota-refusals.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { quantityFromInteger } from '#shared/domain/quantity/quantity.ts';
import { denialEvent } from '#webhook/events/denial-events.ts';
import {
  ALICE,
  buildClass,
  buildClassQuota,
  buildPolicy,
  buildRequest,
  buildWorld,
  NOW,
} from '#test/build/admission.ts';
import { amountsOf, buildPod, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { EVENTS } from '#webhook/messages.ts';

const REQUEST: AdmissionRequest = {
  uid: 'u',
  operation: 'CREATE',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'team-a',
  name: 'web',
  requester: ALICE,
  isDryRun: false,
};
const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
const ONE = quantityFromInteger(1, 'DecimalSI');
const CLASSES = [buildClass('high', 1_000)];

function byPolicy(): AdmissionDecision {
  const world = buildWorld({ classes: CLASSES, policies: [buildPolicy('tenants', { maxPriority: 10 })] });
  return decideValidation(buildRequest(HIGH), world);
}

function byResourceQuota(): AdmissionDecision {
  const quota = buildClassQuota('high-tier', 'high', { hard: { pods: '1' }, used: { pods: '1' } });
  return decideValidation(buildRequest(HIGH), buildWorld({ classes: CLASSES, quotas: [quota] }));
}

function byPriorityQuota(): AdmissionDecision | undefined {
  const quota = {
    name: 'wide',
    namespaces: prepareSelector(selectorOf({})),
    scope: { kind: 'classes', names: new Set(['high']) },
    hard: amountsOf({ pods: '1' }),
    ...PLAIN_QUOTA,
  } as const;
  const exceeded = [{ resource: 'pods', asked: ONE, used: ONE, hard: ONE }];
  const holders = { namespaces: [], knownPods: { pods: [], isPartial: false }, now: NOW };
  return priorityQuotaExceeded(quota, buildRequest(HIGH).pod, exceeded, holders);
}

function byGate(caller: 'plimsoll' | 'scheduler'): AdmissionDecision {
  return decideDisruption({
    kind: caller === 'scheduler' ? 'deletion' : 'eviction',
    caller,
    callerNode: undefined,
    pod: buildPod({ name: 'web', namespace: 'team-a' }),
    expectedUid: 'uid-web',
    gracePeriodSeconds: undefined,
    isDryRun: false,
    wishes: { mayBeEvicted: false, mayBePreempted: false },
    protectedNamespaces: new Set(),
    optOutCeiling: 100,
    optOut: 'WithinRequest',
    policy: undefined,
  });
}

describe('the Event of a refusal', () => {
  test.each([
    [
      'by policy is about the policy',
      byPolicy(),
      {
        regarding: { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityPolicy', name: 'tenants' },
        type: 'Warning',
        reason: 'PolicyViolated',
        action: 'Admit',
        note: EVENTS.refusedInNamespace(
          'team-a',
          MESSAGES.priorityAboveCeiling.text({
            policy: 'tenants',
            maxPriority: 10,
            priorityClassName: 'high',
            priority: 1_000,
          }),
        ),
      },
    ],
    [
      'by ResourceQuota is about the quota, and the same for every pod',
      byResourceQuota(),
      {
        regarding: { apiVersion: 'v1', kind: 'ResourceQuota', name: 'high-tier', namespace: 'team-a' },
        type: 'Warning',
        reason: 'QuotaExceeded',
        action: 'Admit',
        note: EVENTS.refusedByQuota({ priorityClassName: 'high', namespace: 'team-a', resource: 'pods', hard: '1' }),
      },
    ],
    [
      'by PriorityQuota is about the quota',
      byPriorityQuota(),
      {
        regarding: { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityQuota', name: 'wide' },
        type: 'Warning',
        reason: 'QuotaExceeded',
        action: 'Admit',
        note: EVENTS.refusedByQuota({ priorityClassName: 'high', namespace: 'team-a', resource: 'pods', hard: '1' }),
      },
    ],
    [
      'of the scheduler’s deletion is about the pod, and speaks of preemption',
      byGate('scheduler'),
      {
        regarding: { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: 'team-a', uid: 'uid-web' },
        type: 'Warning',
        reason: 'PreemptionRefused',
        action: 'Preempt',
        note: EVENTS.keptPod('preemption', 'scheduler', MESSAGES.ownerForbidsPreemption.text()),
      },
    ],
    [
      'of our own eviction is about the pod, and speaks of eviction',
      byGate('plimsoll'),
      {
        regarding: { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: 'team-a', uid: 'uid-web' },
        type: 'Warning',
        reason: 'EvictionFailed',
        action: 'Evict',
        note: EVENTS.keptPod('removal', 'plimsoll', 'the pod asked never to be evicted'),
      },
    ],
  ])('%s', (_, decision, event) => {
    if (decision === undefined) throw new Error('refused');
    expect(denialEvent(REQUEST, decision)).toEqual(event);
  });

  test('a refusal that names no caller names the user who asked, or none', () => {
    const facts = { namespace: 'team-a', name: 'web', uid: 'u' };
    const refused = { kind: 'refused', code: 429, because: { code: 'DisruptionLimitReached', text: 'no', facts } };
    const note = (name: string): string | undefined =>
      denialEvent({ ...REQUEST, requester: { ...ALICE, name } }, refused as unknown as AdmissionDecision)?.note;
    expect([note('alice'), note('')]).toEqual(['Refused removal by alice: no', 'Refused removal: no']);
  });

  test('there is none for allowed requests, dry runs, and refusals that only the requester needs to know', () => {
    const unknown = decideValidation(buildRequest({ priorityClassName: 'gone', priority: 1 }), buildWorld());
    expect(unknown.kind).toBe('refused');
    expect([
      denialEvent(REQUEST, allow(because('PriorityAccepted', ''))),
      denialEvent({ ...REQUEST, isDryRun: true }, byPolicy()),
      denialEvent(REQUEST, unknown),
    ]).toEqual([undefined, undefined, undefined]);
  });
});
