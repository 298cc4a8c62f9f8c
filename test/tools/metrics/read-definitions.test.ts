import { describe, expect, test } from 'vitest';
import { readDefinitions } from '#tools/metrics/read-definitions.ts';

describe('readDefinitions', () => {
  test('reads name, type, help and labels, and follows constants of the module', () => {
    const text = `
      const LABELS = ['quota', 'resource'];
      function show(metrics: Metrics) {
        const pod = ['namespace', 'pod'];
        metrics.gauge('plimsoll_a', 'First' + ' figure', LABELS);
        options.metrics?.counter('plimsoll_b_total', 'Second', [...pod, 'kind'] as const);
        metrics.histogram('plimsoll_c_seconds', 'Third', [], [1, 2]);
        metrics.gauge('plimsoll_d', 'Fourth').set(1);
        others.counter('not one of ours');
      }`;
    expect(readDefinitions('a.ts', text)).toEqual(
      [
        { name: 'plimsoll_a', type: 'gauge', help: 'First figure', labels: ['quota', 'resource'] },
        { name: 'plimsoll_b_total', type: 'counter', help: 'Second', labels: ['namespace', 'pod', 'kind'] },
        { name: 'plimsoll_c_seconds', type: 'histogram', help: 'Third', labels: [] },
        { name: 'plimsoll_d', type: 'gauge', help: 'Fourth', labels: [] },
      ].map((definition) => ({ declaration: 'show', definition })),
    );
  });

  test.each([
    ['metrics.counter(nameOf(x), "Help")', 'cannot read a metric at a.ts:1: "nameOf(x)" is computed; write it as text'],
    ['metrics.gauge("plimsoll_a", "Help", Object.keys(x))', '"Object.keys(x)" is computed'],
    ['metrics.gauge("plimsoll_a")', 'has no name or no help'],
  ])('refuses %s, which no table can show', (text, message) => {
    expect(() => readDefinitions('a.ts', text)).toThrow(message);
  });
});
