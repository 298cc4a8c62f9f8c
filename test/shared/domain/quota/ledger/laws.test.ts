import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addAmounts,
  equalAmounts,
  filterAmounts,
  subtractAmounts,
  compareQuantities,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { pod } from '#test/shared/domain/ranking/builders.ts';
import { creation, NOW, quota } from '#test/shared/domain/quota/builders.ts';

const cpu = fc.constantFrom('0', '1m', '100m', '0.3', '1', '1.5', '2', '3k');
const memory = fc.constantFrom('0', '1', '1Ki', '100M', '1Gi', '1.5Gi', '1e9');
const count = fc.nat(4).map(String);

const pods = fc
  .record({ cpu, memory, 'example.com/gpu': count })
  .map((requests) => pod('p', { spec: { containers: [{ name: 'c', resources: { requests } }] } }));

const limits = fc.record(
  { pods: count, cpu, 'requests.memory': memory, 'requests.example.com/gpu': count, services: count },
  { requiredKeys: [] },
);

const quotas = fc
  .array(fc.tuple(limits, limits), { maxLength: 4 })
  .map((pairs) => pairs.map(([hard, used], index) => quota(`q${index}`, hard, { used })));

/** Whether nothing that a request touches exceeds its limit. */
function isWithin({ hard }: ResourceQuota, used: ResourceQuota['used'], touched: ReadonlySet<string>): boolean {
  return [...hard].every(
    ([name, limit]) => !touched.has(name) || compareQuantities(used.get(name) ?? ZERO, limit) <= 0,
  );
}

describe('quota laws', () => {
  test('what an allowed pod is charged stays within what it touches, and releasing it restores the usage', () => {
    fc.assert(
      fc.property(pods, quotas, (newPod, given) => {
        const verdict = checkQuotas(creation(newPod), given, []);
        if (verdict.kind === 'refused') return;
        const cost = filterAmounts(charge(newPod, NOW), (_, amount) => compareQuantities(amount, ZERO) > 0);
        for (const each of given) {
          const charged = verdict.newUsed.get(each.name) ?? each.used;
          const asked = filterAmounts(cost, (name) => each.hard.has(name));
          expect(
            equalAmounts(subtractAmounts(charged, asked), addAmounts(each.used, subtractAmounts(asked, asked))),
          ).toBe(true);
          expect(isWithin(each, charged, new Set(asked.keys()))).toBe(true);
        }
      }),
    );
  });

  test('a pod is refused by all quotas together exactly if one of them refuses it alone', () => {
    fc.assert(
      fc.property(pods, quotas, (newPod, given) => {
        const together = checkQuotas(creation(newPod), given, []).kind;
        const alone = given.map((each) => checkQuotas(creation(newPod), [each], []).kind);
        expect(together).toBe(alone.includes('refused') ? 'refused' : 'allowed');
      }),
    );
  });

  test('what was refused stays refused when more is used', () => {
    fc.assert(
      fc.property(pods, limits, limits, limits, (newPod, hard, used, more) => {
        const before = quota('q', hard, { used });
        const after = { ...before, used: addAmounts(before.used, quota('q', more, { used: more }).used) };
        const kinds = [before, after].map((each) => checkQuotas(creation(newPod), [each], []).kind);
        expect(kinds).not.toEqual(['refused', 'allowed']);
      }),
    );
  });

  test('a dry run answers as the request itself does', () => {
    fc.assert(
      fc.property(pods, quotas, (newPod, given) => {
        const real = checkQuotas(creation(newPod), given, []);
        const rehearsed = checkQuotas(creation(newPod, { isDryRun: true }), given, []);
        expect(rehearsed.kind).toBe(real.kind);
        if (real.kind === 'refused') expect(rehearsed).toEqual(real);
        else expect(rehearsed).toMatchObject({ newUsed: new Map() });
      }),
    );
  });
});
