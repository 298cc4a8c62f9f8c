import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { askBudgets, type BudgetAnswer } from '#shared/domain/eviction/ask-budgets.ts';
import { decodeBudget } from '#shared/kube/decode/decode-objects.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { valueOf } from '#test/build/value-of.ts';

interface BudgetFields {
  readonly policy?: string | undefined;
  readonly generation?: number;
  readonly observed?: number;
  readonly allowed?: number;
  readonly current?: number;
  readonly desired?: number;
}

function budget(
  { policy, generation = 1, observed = 1, allowed = 0, current = 2, desired = 2 }: BudgetFields,
  name = 'one',
) {
  return valueOf(
    decodeBudget({
      metadata: { namespace: 'shop', name, generation },
      spec: { selector: { matchLabels: { app: 'web' } }, unhealthyPodEvictionPolicy: policy },
      status: {
        observedGeneration: observed,
        disruptionsAllowed: allowed,
        currentHealthy: current,
        desiredHealthy: desired,
      },
    }),
  );
}

function pod(phase: string, ready: string | undefined, isTerminating = false) {
  return valueOf(
    decodePod({
      metadata: {
        namespace: 'shop',
        name: 'web',
        labels: { app: 'web' },
        ...(isTerminating && { deletionTimestamp: '2026-11-28T10:00:00Z', deletionGracePeriodSeconds: 30 }),
      },
      spec: { nodeName: 'a', containers: [] },
      status: { phase, conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }] },
    }),
  );
}

function short(answer: BudgetAnswer): string {
  return answer.kind === 'Refused' ? answer.why : answer.kind;
}

const RUNNING = ['Running', 'True'] as const;
const FAILING = ['Running', 'False'] as const;

describe('the answer to an eviction', () => {
  test.each<[string, readonly [string, string | undefined, boolean?], BudgetFields, string]>([
    ['a ready pod uses a disruption', RUNNING, { allowed: 1 }, 'Counted'],
    ['a ready pod finds none left', RUNNING, {}, 'Spent'],
    ['a failing pod goes where enough others are healthy', FAILING, {}, 'Free'],
    ['a pod that says nothing about itself goes likewise', ['Running', undefined], {}, 'Free'],
    ['a failing pod is one too many', FAILING, { current: 1 }, 'Spent'],
    ['a failing pod uses a disruption', FAILING, { current: 1, allowed: 1 }, 'Counted'],
    ['nobody needs to be healthy', FAILING, { current: 0, desired: 0 }, 'Spent'],
    ['a failing pod always goes', FAILING, { current: 0, policy: 'AlwaysAllow' }, 'Free'],
    ['the policy that is the default', FAILING, { current: 1, policy: 'IfHealthyBudget' }, 'Spent'],
    ['a ready pod does not always go', RUNNING, { policy: 'AlwaysAllow' }, 'Spent'],
    ['a pod that waits goes', ['Pending', undefined], { current: 0 }, 'Free'],
    ['a pod that has ended goes', ['Failed', 'False'], { current: 0 }, 'Free'],
    ['a pod that terminates goes', ['Running', 'True', true], {}, 'Free'],
    ['a pod of an unknown phase is asked for', ['Unknown', 'True'], {}, 'Spent'],
    ['an outdated status', RUNNING, { generation: 2, allowed: 5 }, 'Stale'],
    ['a failing pod under an outdated status', FAILING, { generation: 2, allowed: 5 }, 'Free'],
    ['a status below zero', RUNNING, { allowed: -1 }, 'Unusable'],
  ])('%s', (_, [phase, ready, isTerminating], fields, expected) => {
    expect(short(askBudgets(pod(phase, ready, isTerminating), [budget(fields)]))).toBe(expected);
  });

  test('several budgets are refused, whatever they allow, but for a pod that no budget is asked about', () => {
    const two = [budget({ allowed: 5 }), budget({ allowed: 5 }, 'two')];
    expect(short(askBudgets(pod(...RUNNING), two))).toBe('Several');
    expect(short(askBudgets(pod(...FAILING), two))).toBe('Several');
    expect(short(askBudgets(pod('Pending', undefined), two))).toBe('Free');
    expect(short(askBudgets(pod(...RUNNING), []))).toBe('Free');
  });

  test('a budget that allows nothing is never counted', () => {
    const counts = { allowed: fc.integer({ min: -1, max: 2 }), current: fc.nat(3), desired: fc.nat(3) };
    const states = fc.record({ ...counts, observed: fc.nat(2), policy: fc.constantFrom(undefined, 'AlwaysAllow') });
    fc.assert(
      fc.property(states, fc.constantFrom('True', 'False'), (fields, ready) => {
        const answer = askBudgets(pod('Running', ready), [budget(fields)]);
        return answer.kind !== 'Counted' || answer.budget.disruptionsAllowed > 0;
      }),
    );
  });
});
