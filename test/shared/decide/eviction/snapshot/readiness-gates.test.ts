import { describe, expect, test } from 'vitest';
import { readinessGates, type AgentReadiness } from '#shared/decide/eviction/snapshot/node-snapshot.ts';

const READY: AgentReadiness = {
  nowMs: 1_000_000,
  startedAtMs: 0,
  warmUpMs: 30_000,
  arePodsSynced: true,
  arePoliciesRead: true,
  isHistoryKnown: true,
  lastContactMs: 999_000,
};

describe('readinessGates', () => {
  test.each<[what: string, condition: Partial<AgentReadiness>, codes: readonly string[]]>([
    ['nothing once all is known', {}, []],
    ['the warm-up', { startedAtMs: 970_001 }, ['WarmingUp']],
    ['no warm-up that is over', { startedAtMs: 970_000 }, []],
    ['pods that were not read', { arePodsSynced: false }, ['PodsUnknown']],
    ['policies that were not read', { arePoliciesRead: false }, ['PoliciesUnknown']],
    ['evictions of a previous process that were not read', { isHistoryKnown: false }, ['HistoryUnknown']],
    ['more than two minutes of silence', { lastContactMs: 879_999 }, ['ApiServerSilent']],
    ['no silence of two minutes', { lastContactMs: 880_000 }, []],
    ['no silence where there is no API server', { lastContactMs: undefined }, []],
    [
      'everything at once, in this order',
      {
        startedAtMs: 999_000,
        arePodsSynced: false,
        arePoliciesRead: false,
        isHistoryKnown: false,
        lastContactMs: 0,
      },
      ['WarmingUp', 'PodsUnknown', 'PoliciesUnknown', 'HistoryUnknown', 'ApiServerSilent'],
    ],
  ])('names %s', (_, condition, codes) => {
    expect(readinessGates({ ...READY, ...condition }).map(({ code }) => code)).toEqual(codes);
  });

  test('says how many seconds are left, and how many passed', () => {
    const [warmingUp, silent] = readinessGates({ ...READY, startedAtMs: 971_500, lastContactMs: 800_400 });
    expect([warmingUp?.facts, silent?.facts]).toEqual([{ seconds: 2 }, { seconds: 200 }]);
  });
});
