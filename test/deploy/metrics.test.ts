import { describe, expect, test } from 'vitest';
import { createAgentMetrics } from '#agent/report/agent-metrics.ts';
import { createInventoryMetrics } from '#agent/report/source-metrics.ts';
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts';
import { createReviewMetrics } from '#webhook/server/review-metrics.ts';
import { createLog } from '#shared/runtime/log.ts';
import { unitOf } from '#tools/metrics/metric-definition.ts';
import { type ExportingProcess, repositoryMetrics } from '#tools/metrics/repository-metrics.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });
const table = repositoryMetrics();

describe('the table of metrics', () => {
  test.each<[ExportingProcess, (metrics: Metrics) => void, atLeast: number]>([
    ['agent', (metrics) => [createAgentMetrics(metrics), createInventoryMetrics(metrics, log)], 30],
    ['webhook', (metrics) => createReviewMetrics(metrics, log), 4],
  ])('names what the %s registers, with its type and help', async (component, register, atLeast) => {
    const metrics = createMetrics(component);
    register(metrics);
    const registered = await readExposition(metrics);
    expect(registered.length).toBeGreaterThanOrEqual(atLeast);
    const listed = table.filter(({ components }) => components.includes(component));
    expect(registered.filter((each) => !listed.some((one) => each === `${one.name} ${one.type} ${one.help}`))).toEqual(
      [],
    );
  });

  test('follows the code of each process: the extender counts in the scheduler alone', () => {
    const componentsOf = (name: string) => table.find((metric) => metric.name === name)?.components;
    expect(componentsOf('plimsoll_extender_nodes_total')).toEqual(['scheduler']);
    expect(componentsOf('plimsoll_evictions_total')).toEqual(['agent']);
    expect(componentsOf('plimsoll_build_info')).toEqual(['agent', 'scheduler', 'webhook']);
  });

  test('keeps the naming rules of Prometheus', () => {
    const wrong = table.filter(
      ({ name, type, labels }) =>
        name.endsWith('_total') !== (type === 'counter') ||
        (type === 'histogram' && !name.endsWith('_seconds')) ||
        labels.some((label) => !/^[a-z][a-z_]*$/.test(label) || label === 'node' || label === 'le'),
    );
    expect(wrong).toEqual([]);
    expect(unitOf({ name: 'plimsoll_x_timestamp_seconds' })).toBe('seconds since 1970');
  });
});

async function readExposition(metrics: Metrics): Promise<readonly string[]> {
  const text = await metrics.text();
  const helpOf = new Map(
    Array.from(text.matchAll(/^# HELP (\S+) (.*)$/gm), ([, name = '', help = '']) => [name, help]),
  );
  return Array.from(
    text.matchAll(/^# TYPE (\S+) (\S+)$/gm),
    ([, name = '', type = '']) => `${name} ${type} ${helpOf.get(name) ?? ''}`,
  );
}
