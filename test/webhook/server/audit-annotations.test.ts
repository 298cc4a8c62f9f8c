import { describe, expect, test } from 'vitest';
import { because, allow, refuse, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { auditAnnotations } from '#webhook/server/admission-review.ts';
import { markOneOfSeveral } from '#webhook/handlers/handlers.ts';

const CHANGE = { priorityClassName: 'standard', priority: 100, preemptionPolicy: 'Never' };
const accepted = allow(because('PriorityAccepted', 'it may be used'));
const given = { ...allow(because('PriorityFromPolicy', 'the default of policy `p`')), change: CHANGE };
const refused = refuse(403, because('ClassNotAllowed', 'policy `p` does not allow it'));
const REFUSED = { decision: 'ClassNotAllowed', because: 'policy `p` does not allow it' };

const CREATION: AdmissionRequest = {
  uid: 'u',
  operation: 'CREATE',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: 'web',
  requester: { name: 'alice', groups: [] },
  isDryRun: false,
};
const DELETION: AdmissionRequest = { ...CREATION, operation: 'DELETE' };
const COLLECTION: AdmissionRequest = { ...DELETION, name: '' };

function annotationsOf(path: string, decision: AdmissionDecision, request: AdmissionRequest): object {
  return auditAnnotations(markOneOfSeveral(path, request, decision));
}

describe('the audit annotations of an answer', () => {
  test.each([
    ['a verdict', '/validate', accepted, CREATION, { decision: 'PriorityAccepted', because: 'it may be used' }],
    ['a refusal while mutating, which is final', '/mutate', refused, CREATION, REFUSED],
    ['a mutation that changes nothing', '/mutate', accepted, CREATION, {}],
    [
      'a mutation, of which there may be several',
      '/mutate',
      given,
      CREATION,
      { 'mutation-ec4c037d': 'PriorityFromPolicy: the default of policy `p`' },
    ],
    ['a deletion', '/validate/deletions', refused, DELETION, REFUSED],
    [
      'one of a collection',
      '/validate/deletions',
      refused,
      COLLECTION,
      { 'item-1233225d': 'ClassNotAllowed: policy `p` does not allow it' },
    ],
  ])('%s', (_, path, decision, request, expected) => {
    expect(annotationsOf(path, decision, request)).toEqual(expected);
  });

  test('are bounded, as the API server keeps them in memory', () => {
    const long = refuse(403, because('ClassNotAllowed', 'x'.repeat(10_000)));
    const lengths = [
      annotationsOf('/validate', long, CREATION),
      annotationsOf('/validate/deletions', long, COLLECTION),
    ].map((annotations) => Math.max(...Object.values(annotations).map((text: string) => text.length)));
    expect(lengths).toEqual([500, 500]);
  });
});
