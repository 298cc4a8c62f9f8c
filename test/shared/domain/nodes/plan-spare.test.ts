import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planSpare, type SpareNode, type SpareReport } from '#shared/domain/nodes/plan-spare.ts';

const NODE: SpareNode = { name: 'n1', isOpen: true, offered: {}, capacity: { memory: 1_000, cpu: 4_000 } };
const REPORT: SpareReport = {
  mode: 'Enforce',
  isFresh: true,
  amounts: { memory: { lent: 400, taken: 100 }, cpu: { lent: 2_000, taken: 500 } },
};
const LENDING = { mode: 'Enforce', max: 1 } as const;

function lends(memory: Partial<SpareReport['amounts']['memory']>, max = 1) {
  const amounts = { ...REPORT.amounts, memory: { ...REPORT.amounts.memory, ...memory } };
  return planSpare(NODE, { ...REPORT, amounts }, { ...LENDING, max }).offer.memory;
}

describe('what a node offers to spare pods', () => {
  test('is what its agent reports, and is written once', () => {
    const plan = planSpare(NODE, REPORT, LENDING);
    expect(plan).toMatchObject({ isChanged: true, offer: { memory: 400, cpu: 2_000 } });
    expect(planSpare({ ...NODE, offered: plan.offer }, REPORT, LENDING).isChanged).toBe(false);
  });

  test.each<[string, Partial<SpareNode>, Partial<SpareReport> | undefined, 'Disabled' | 'DryRun' | 'Enforce']>([
    ['SpareRoomNotEnforced', {}, {}, 'DryRun'],
    ['SpareRoomNotEnforced', {}, {}, 'Disabled'],
    ['SpareRoomNotEnforced', {}, { mode: 'DryRun' }, 'Enforce'],
    ['AgentSilent', {}, { isFresh: false }, 'Enforce'],
    ['AgentSilent', {}, undefined, 'Enforce'],
    ['NodeClosed', { isOpen: false }, {}, 'Enforce'],
  ])('is withdrawn altogether: %s', (code, node, report, mode) => {
    const offering = { ...NODE, ...node, offered: { memory: 400, cpu: 2_000 } };
    const plan = planSpare(offering, report && { ...REPORT, ...report }, { ...LENDING, mode });
    expect(plan).toMatchObject({ offer: {}, isChanged: true, because: { code } });
    expect(planSpare({ ...offering, offered: {} }, undefined, LENDING).isChanged).toBe(false);
  });

  test.each<[number | undefined, string, Parameters<typeof lends>]>([
    [100, 'what spare pods request, though less can be lent', [{ lent: 0 }]],
    [300, 'the share that the policy allows', [{}, 0.3]],
    [100, 'what spare pods request above that share', [{}, 0.05]],
    [1_000, 'no more than the node has, whatever an agent claims', [{ lent: 1e15 }]],
  ])('is %d: %s', (expected, _, [amounts, max]) => {
    expect(lends(amounts, max)).toBe(expected);
  });

  test('is nothing where nothing is lent and no spare pod runs', () => {
    const nothing = { lent: 0, taken: 0 };
    expect(planSpare(NODE, { ...REPORT, amounts: { memory: nothing, cpu: nothing } }, LENDING).offer).toEqual({});
  });

  test.each(['memory', 'cpu'] as const)('is withdrawn where spare pods request more %s than the node has', (kind) => {
    const amounts = { ...REPORT.amounts, [kind]: { lent: 1e15, taken: 1e15 } };
    const offering = { ...NODE, offered: { memory: 400, cpu: 2_000 } };
    const plan = planSpare(offering, { ...REPORT, amounts }, LENDING);
    // Any smaller amount would let a kubelet that restarts end pods, of whichever tenant.
    expect(plan).toMatchObject({ offer: {}, isChanged: true, because: { code: 'SpareRoomOverdrawn' } });
  });

  test('is never less than spare pods request, unless it is withdrawn', () => {
    const amount = fc.record({ lent: fc.nat(2_000), taken: fc.nat(1_000) });
    fc.assert(
      fc.property(amount, amount, fc.double({ min: 0, max: 1, noNaN: true }), (memory, cpu, max) => {
        const { offer } = planSpare(NODE, { ...REPORT, amounts: { memory, cpu } }, { ...LENDING, max });
        if (offer.memory === undefined) expect([memory.taken, cpu.taken, offer]).toEqual([0, 0, {}]);
        else expect(offer.memory).toBeGreaterThanOrEqual(memory.taken);
        if (offer.cpu !== undefined) expect(offer.cpu).toBeGreaterThanOrEqual(cpu.taken);
      }),
    );
  });
});
