import { describe, expect, test } from 'vitest';
import { createMetrics } from '#shared/runtime/metrics.ts';

describe('createMetrics', () => {
  test('tells what runs', async () => {
    const text = await createMetrics('agent').text();
    expect(text).toMatch(
      /^plimsoll_build_info\{component="agent",version="[^"]+",commit="[^"]+",node_version="[^"]+"\} 1$/m,
    );
  });

  test('gives the same metric when asked twice', async () => {
    const metrics = createMetrics('agent');
    metrics.counter('plimsoll_tests_total', 'Tests run', ['kind']).add({ kind: 'unit' });
    metrics.counter('plimsoll_tests_total', 'Tests run', ['kind']).add({ kind: 'unit' }, 2);
    expect(await metrics.text()).toContain('plimsoll_tests_total{kind="unit"} 3\n');
  });

  test('forgets series that are gone', async () => {
    const metrics = createMetrics('agent');
    const gauge = metrics.gauge('plimsoll_ranked_pods', 'Pods ranked', ['pod']);
    gauge.set(1, { pod: 'a' });
    gauge.set(2, { pod: 'b' });
    gauge.remove({ pod: 'a' });
    expect((await metrics.text()).match(/^plimsoll_ranked_pods.*/gm)).toEqual(['plimsoll_ranked_pods{pod="b"} 2']);
    gauge.reset();
    expect((await metrics.text()).match(/^plimsoll_ranked_pods.*/gm)).toBeNull();
  });

  test('shows a counter of the kernel as it was read, also after it began anew', async () => {
    const metrics = createMetrics('agent');
    const kills = metrics.readCounter('plimsoll_kills_total', 'Kills', ['pod']);
    const shown = async () => (await metrics.text()).match(/^(?:# TYPE plimsoll_kills_total|plimsoll_kills_total).*/gm);
    for (const read of [3, 5, 1]) kills.set(read, { pod: 'a' });
    expect(await shown()).toEqual(['# TYPE plimsoll_kills_total counter', 'plimsoll_kills_total{pod="a"} 1']);
    kills.reset();
    expect(await shown()).toEqual(['# TYPE plimsoll_kills_total counter']);
    expect(() => metrics.readCounter('plimsoll_kills', 'Kills')).toThrow('Counter "plimsoll_kills" must end in _total');
  });

  test('counts observations in buckets', async () => {
    const metrics = createMetrics('agent');
    metrics.histogram('plimsoll_wait_seconds', 'Waiting', [], [0.1, 1]).observe(0.5);
    expect((await metrics.text()).match(/^plimsoll_wait_seconds.*/gm)).toEqual([
      'plimsoll_wait_seconds_bucket{le="0.1"} 0',
      'plimsoll_wait_seconds_bucket{le="1"} 1',
      'plimsoll_wait_seconds_bucket{le="+Inf"} 1',
      'plimsoll_wait_seconds_sum 0.5',
      'plimsoll_wait_seconds_count 1',
    ]);
  });

  test('tells everything that series have gathered, once', async () => {
    const metrics = createMetrics('webhook');
    const counter = metrics.counter('plimsoll_tests_total', 'Tests run', ['kind']);
    const series = counter.series({ kind: 'unit' });
    counter.add({ kind: 'unit' });
    series.add();
    counter.series({ kind: 'unit' }).add();
    const wait = metrics.histogram('plimsoll_wait_seconds', 'Waiting', ['of'], [1]).series({ of: 'x' });
    for (let count = 0; count < 1_000; count += 1) wait.observe(count < 700 ? 0.5 : 2);
    await metrics.text();
    const lines = (await metrics.text()).match(/^plimsoll_(?:tests|wait).*/gm);
    expect(lines).toEqual([
      'plimsoll_tests_total{kind="unit"} 3',
      'plimsoll_wait_seconds_bucket{le="1",of="x"} 700',
      'plimsoll_wait_seconds_bucket{le="+Inf",of="x"} 1000',
      'plimsoll_wait_seconds_sum{of="x"} 950',
      'plimsoll_wait_seconds_count{of="x"} 1000',
    ]);
  });

  test('keeps one series for the same labels', () => {
    const metrics = createMetrics('webhook');
    const counter = metrics.counter('plimsoll_tests_total', 'Tests run', ['kind', 'of']);
    const wait = metrics.histogram('plimsoll_wait_seconds', 'Waiting', ['of']);
    expect(counter.series({ of: 'x', kind: 'unit' })).toBe(counter.series({ kind: 'unit', of: 'x' }));
    expect(counter.series({ kind: 'unit', of: 'y' })).not.toBe(counter.series({ kind: 'unit', of: 'x' }));
    expect(wait.series({ of: 'x' })).toBe(wait.series({ of: 'x' }));
  });

  const refused: Record<string, () => unknown> = {
    'a counter without _total': () => createMetrics('a').counter('plimsoll_x', 'X'),
    'a name without our prefix': () => createMetrics('a').gauge('x_bytes', 'X'),
    'a help that ends in a full stop': () => createMetrics('a').gauge('plimsoll_x', 'X.'),
    'one name as two kinds': () => createMetrics('a').histogram('plimsoll_build_info', 'X'),
  };
  test.each(Object.entries(refused))('refuses %s', (_, register) => {
    expect(register).toThrow(/^(Counter|Metric|Help)/);
  });
});
