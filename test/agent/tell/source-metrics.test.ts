import { expect, test } from 'vitest';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { SourceHealth } from '#agent/observe/watched-source.ts';
import { createSourceMetrics, type SourcesShown } from '#agent/tell/source-metrics.ts';
import { because } from '#test/agent/node-scene.ts';

function healthOf(name: string, state: SourceHealth['state']): SourceHealth {
  return { name, state, because: undefined, lastReadingAtMs: 1000, durationMs: 2, failures: 0 };
}

test('each source has its series while it is asked, and each comparison while there is one', async () => {
  const metrics = createMetrics('agent');
  const show = createSourceMetrics(metrics);
  const lines = async (shown: SourcesShown): Promise<string[]> => {
    show(shown, 3000);
    return (await metrics.text()).split('\n').filter((line) => line.startsWith('plimsoll_source'));
  };
  const fallen = await lines({
    health: [healthOf('node-memory', 'failed'), healthOf('kubelet-summary', 'reading')],
    verdicts: [
      { source: 'a', kind: 'agrees' },
      { source: 'b', kind: 'differs', because: because('SourcesDisagree') },
      { source: 'c', kind: 'incomparable', because: because('SourcesNotComparable') },
    ],
    hasFallenBack: true,
  });
  expect(fallen).toEqual([
    'plimsoll_source_success{source="node-memory"} 0',
    'plimsoll_source_success{source="kubelet-summary"} 1',
    'plimsoll_source_age_seconds{source="node-memory"} 2',
    'plimsoll_source_age_seconds{source="kubelet-summary"} 2',
    'plimsoll_source_duration_seconds{source="node-memory"} 0.002',
    'plimsoll_source_duration_seconds{source="kubelet-summary"} 0.002',
    'plimsoll_source_agrees{source="a"} 1',
    'plimsoll_source_agrees{source="b"} 0',
    'plimsoll_source_fallback 1',
  ]);
  expect(await lines({ health: [healthOf('node-memory', 'reading')], verdicts: [], hasFallenBack: false })).toEqual([
    'plimsoll_source_success{source="node-memory"} 1',
    'plimsoll_source_age_seconds{source="node-memory"} 2',
    'plimsoll_source_duration_seconds{source="node-memory"} 0.002',
    'plimsoll_source_fallback 0',
  ]);
});
