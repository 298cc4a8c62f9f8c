import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { configMapEvictionStore } from '#webhook/evictions/eviction-store.ts';
import { ERRORS } from '#webhook/messages.ts';

const COLLECTION = '/api/v1/configmaps';
const ONE = { at: 1, node: 'a', namespace: 'team', pod: 'web', uid: 'uid-web' };

describe('the ConfigMap in which replicas share the count of evictions', () => {
  let api: ApiDouble;
  let client: KubeClient;
  beforeAll(async () => {
    api = await apiDouble();
    client = createClient(directConnection({ server: api.url }), { userAgent: 'test' });
  });
  afterAll(async () => {
    client.close();
    await api.close();
  });

  test('is made where it is missing, and gives back what was written', async () => {
    const store = configMapEvictionStore(client, 'plimsoll-system', 'made');
    expect(await store.read(1_000)).toEqual({ evictions: [], version: undefined });
    expect(await store.write({ evictions: [ONE], version: undefined }, 1_000)).toBe(true);
    expect((await store.read(1_000)).evictions).toEqual([ONE]);
  });

  test('takes no write of a replica that has not seen the last one', async () => {
    const store = configMapEvictionStore(client, 'plimsoll-system', 'shared');
    await store.write({ evictions: [], version: undefined }, 1_000);
    const stored = await store.read(1_000);
    expect(await store.write({ ...stored, evictions: [ONE] }, 1_000)).toBe(true);
    expect(await store.write({ ...stored, evictions: [] }, 1_000)).toBe(false);
    expect((await store.read(1_000)).evictions).toEqual([ONE]);
  });

  test('is empty as the manifests apply it', async () => {
    api.put(COLLECTION, { metadata: { name: 'applied', namespace: 'plimsoll-system' } });
    const store = configMapEvictionStore(client, 'plimsoll-system', 'applied');
    expect(await store.read(1_000)).toEqual({ evictions: [], version: expect.any(String) as string });
  });

  test.each(['', 'no JSON', '{}', '[{"at":"now"}]', '[null]'])('is no count when it holds %j', async (text) => {
    const data = { 'evictions.json': text };
    api.put(COLLECTION, { metadata: { name: 'strange', namespace: 'plimsoll-system' }, data });
    const store = configMapEvictionStore(client, 'plimsoll-system', 'strange');
    await expect(store.read(1_000)).rejects.toThrow(
      ERRORS.evictionsGarbled('ConfigMap "plimsoll-system/strange"', 'evictions.json'),
    );
  });

  test('says when it cannot be read', async () => {
    api.failing = 503;
    const store = configMapEvictionStore(client, 'plimsoll-system', 'made');
    await expect(store.read(1_000)).rejects.toThrow('cannot read ConfigMap "plimsoll-system/made"');
    api.failing = undefined;
  });
});
