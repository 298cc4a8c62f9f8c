import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createNodeCaches, readAvoidFor } from '#scheduler/nodes/known-node.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';

const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';

const policyWith = (avoidFor: string | undefined) => ({
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressurePolicy',
  metadata: { name: 'pool' },
  spec: { avoidFor },
});

describe('readAvoidFor', () => {
  test.each<[string | undefined, number | undefined]>([
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['0', 0],
    ['', undefined],
    [undefined, undefined],
  ])('"%s" is %s ms', (text, ms) => {
    expect(readAvoidFor(policyWith(text))).toBe(ms);
  });

  test.each([
    ['10 min', 'time: unknown unit " min" in duration "10 min"'],
    ['-5m', 'it is negative: "-5m"'],
  ])('"%s" cannot be read, and the message names policy and field', (text, cause) => {
    expect(() => readAvoidFor(policyWith(text))).toThrow(
      `cannot read spec.avoidFor of NodePressurePolicy "pool": ${cause}`,
    );
  });
});

describe('createNodeCaches', () => {
  let server: ApiDouble;
  let client: KubeClient;
  let stop: AbortController;

  beforeEach(async () => {
    stop = new AbortController();
    server = await apiDouble();
    client = createClient(directConnection({ server: server.url }), { userAgent: 'test' });
  });
  afterEach(async () => {
    stop.abort();
    client.close();
    await server.close();
  });

  test('an avoidFor that cannot be read is logged and counted, and the policy sets none', async () => {
    server.put(POLICIES, policyWith('10 min'));
    const errors: unknown[] = [];
    const log = { warn: () => undefined, error: ({ err }: { err: unknown }) => errors.push(err) } as unknown as Log;
    const metrics = createMetrics('scheduler');
    const { avoidFor } = createNodeCaches({ client, clock: systemClock, random: () => 0.5, log, metrics });
    void avoidFor.run(stop.signal);
    await avoidFor.synced;
    expect(avoidFor.get('pool')).toBeUndefined();
    expect(errors.map(String)).toEqual([
      `Error: cannot read spec.avoidFor of NodePressurePolicy "pool": time: unknown unit " min" in duration "10 min"`,
    ]);
    expect(await metrics.text()).toMatch(
      /plimsoll_reflector_handler_errors_total\{resource="nodepressurepolicies[^}]*\} 1/,
    );
  });
});
