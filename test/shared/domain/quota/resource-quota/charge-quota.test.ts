import { describe, expect, test } from 'vitest';
import { NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import { chargeQuota } from '#shared/domain/quota/resource-quota/charge-quota.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { pod } from '#test/shared/domain/ranking/builders.ts';
import { amounts, quota } from '#test/shared/domain/quota/builders.ts';

const POD = pod('web');

function printed(outcome: ReturnType<typeof chargeQuota>) {
  if (outcome.kind === 'refused') return outcome.message;
  return { asked: printAmounts(outcome.asked), used: printAmounts(outcome.used) };
}

describe('chargeQuota', () => {
  test('adds what the quota limits, in the format of the former usage', () => {
    const given = quota('q', { cpu: '2', memory: '2Gi' }, { used: { cpu: '500m', memory: '1Gi' } });
    const charged = chargeQuota(POD, given, amounts({ cpu: '1500m', memory: '1073741824', pods: '1' }));
    expect(printed(charged)).toEqual({
      asked: { cpu: '1500m', memory: '1073741824' },
      used: { cpu: '2', memory: '2Gi' },
    });
  });

  test('one unit too many is refused', () => {
    const given = quota('q', { memory: '1Gi' });
    expect(chargeQuota(POD, given, amounts({ memory: '1Gi' })).kind).toBe('charged');
    expect(chargeQuota(POD, given, amounts({ memory: '1073741825' })).kind).toBe('refused');
    expect(chargeQuota(POD, given, amounts({ memory: '1073741824001m' })).kind).toBe('refused');
  });

  test('what was never counted counts as nothing used', () => {
    const given = { ...quota('q', { pods: '1' }), used: NO_AMOUNTS };
    expect(printed(chargeQuota(POD, given, amounts({ pods: '1' })))).toEqual({
      asked: { pods: '1' },
      used: { pods: '1' },
    });
    expect(chargeQuota(POD, given, amounts({ pods: '2' }))).toMatchObject({
      message: 'pods "web" is forbidden: exceeded quota: q, requested: pods=2, used: pods=0, limited: pods=1',
    });
  });
});
