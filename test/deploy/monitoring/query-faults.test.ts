import { describe, expect, test } from 'vitest';
import { groupingFaults, queryFaults } from './query-faults.ts';

describe('queryFaults', () => {
  test.each([
    ['sum by (node) (rate(plimsoll_evictions_total{mode="enforce"}[5m])) > 0', []],
    ['histogram_quantile(0.99, rate(plimsoll_webhook_request_duration_seconds_bucket{webhook="x"}[5m]))', []],
    ['plimsoll_evictions_gone_total > 0', ['no process exports plimsoll_evictions_gone_total']],
    ['absent(up{job="x"})', ['no process exports up']],
    ['plimsoll_evictions_held{cause="x"}', ['plimsoll_evictions_held has no label cause']],
    ['plimsoll_evictions_total > 1', ['the counter plimsoll_evictions_total needs rate or increase']],
    ['rate(plimsoll_evictions_held[5m])', ['plimsoll_evictions_held[5m] is no counter']],
  ])('%s', (query, faults) => {
    expect(queryFaults(query).map((fault) => fault.replaceAll(/\s+(?=needs)/g, ' '))).toEqual(faults);
  });

  test('a grouping by a label that no metric has gives one group', () => {
    expect(groupingFaults('sum by (node, signal) (plimsoll_evictions_held)')).toEqual([
      'nothing in the query has the label signal',
    ]);
  });
});
