import { describe, expect, test } from 'vitest';
import { governingPolicy, nodePolicyViews, policyEntry } from '#dashboard/views/node-policies.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

function policy(name: string, spec: object, status: object = {}) {
  return policyEntry({ metadata: { name }, spec, status });
}

function report(name: string, status: object) {
  return decodeNodePressure({ metadata: { name }, status: { observedAt: new Date(NOW).toISOString(), ...status } });
}

describe('nodePolicyViews', () => {
  const all = policy('all', { mode: 'DryRun' });
  const batch = policy('batch', {
    nodeSelector: { matchLabels: { pool: 'batch' } },
    order: 5,
    mode: 'Enforce',
    evictionHard: { 'memory.available': '5%' },
    evictionSoft: { 'memory.available': '1.5Gi' },
    evictionSoftGracePeriod: { 'memory.available': '90s' },
    limits: { perMinute: 7 },
    protect: { namespaces: ['shop'] },
  });
  const views = (
    governing: Record<string, string>,
    pressures: Parameters<typeof nodePolicyViews>[0]['pressures'] = [],
  ) => nodePolicyViews({ policies: [all, batch], governing: new Map(Object.entries(governing)), pressures, now: NOW });

  test('the policy with the highest order stands first, with thresholds and what it sets otherwise', () => {
    const [first, second] = views({ a: 'batch', b: 'all', c: 'all' });
    expect([first?.name, first?.governs, second?.name, second?.governs, second?.nodes]).toEqual([
      'batch',
      1,
      'all',
      2,
      ['b', 'c'],
    ]);
    expect(first?.thresholds.slice(0, 2)).toEqual([
      {
        signal: 'memory.available',
        kind: 'hard',
        least: '5%',
        gracePeriodSeconds: 0,
        mode: 'Enforce',
        state: '',
        heldBy: [],
      },
      {
        signal: 'memory.available',
        kind: 'soft',
        least: '1.5Gi',
        gracePeriodSeconds: 90,
        mode: 'Enforce',
        state: '',
        heldBy: [],
      },
    ]);
    expect(first?.differs).toEqual([
      { field: 'limits.perMinute', value: '7', usual: '2' },
      { field: 'protect.namespaces', value: 'shop', usual: '' },
    ]);
    expect(second?.differs).toEqual([]);
  });

  test('nodes without a policy come last, with the defaults', () => {
    const left = views({ a: 'batch', x: '' }).at(-1);
    expect([left?.name, left?.nodes, left?.mode, left?.differs]).toEqual(['', ['x'], 'DryRun', []]);
    expect(views({ a: 'batch' }).at(-1)?.name).toBe('all');
  });

  test('an agent that reports another policy or mode is named, one that is silent is not', () => {
    const [first, second] = views({ a: 'batch', b: 'batch', c: 'batch', d: 'all' }, [
      report('a', { policy: 'batch', mode: 'Enforce' }),
      report('b', { policy: 'batch', mode: 'DryRun' }),
      report('c', { policy: 'all', mode: 'DryRun', observedAt: new Date(NOW - 600_000).toISOString() }),
      report('d', { policy: 'batch', mode: 'Enforce' }),
      report('gone', { policy: 'all', mode: 'DryRun' }),
    ]);
    expect(first?.deviating).toEqual([{ node: 'b', policy: 'batch', mode: 'DryRun' }]);
    expect(second?.deviating).toEqual([{ node: 'd', policy: 'batch', mode: 'Enforce' }]);
  });

  test('one that cannot be read says which field, and governs the nodes that it selects', () => {
    const typo = policy('typo', { order: 9, evictionHard: { 'memory.available': 'much' } });
    const governing = new Map([['a', governingPolicy([typo.named, all.named], { name: 'a', labels: {} })]]);
    const [view] = nodePolicyViews({ policies: [typo, all], governing, pressures: [], now: NOW });
    expect(view).toMatchObject({ name: 'typo', mode: '', thresholds: [], nodes: ['a'] });
    expect(view?.problem).toMatch(/evictionHard: .*quantities must match/);
  });
});
