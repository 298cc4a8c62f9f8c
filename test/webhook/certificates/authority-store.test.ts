import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAuthority } from '#shared/http/certificates.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { secretAuthorityStore } from '#webhook/certificates/authority-store.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';

const NOW = Date.UTC(2026, 0, 1);
const current = createAuthority({ commonName: 'current', days: 10, now: NOW });
const next = createAuthority({ commonName: 'next', days: 10, now: NOW });

describe('secretAuthorityStore', () => {
  let api: ApiDouble;
  beforeEach(async () => (api = await apiDouble()));
  afterEach(() => api.close());

  function store() {
    const client = createClient(directConnection({ server: api.url }), { userAgent: 'test' });
    return secretAuthorityStore(client, 'plimsoll-system', 'ca');
  }

  test('reads back what it wrote', async () => {
    const authorities = { current, next, previousPem: next.certPem };
    expect(await store().read()).toEqual({ authorities: undefined, version: undefined });
    expect(await store().write(authorities, undefined)).toBe(true);
    expect((await store().read()).authorities).toEqual(authorities);
    const only = { current, next: undefined, previousPem: '' };
    expect(await store().write(only, (await store().read()).version)).toBe(true);
    expect((await store().read()).authorities).toEqual(only);
  });

  test('fills the empty Secret of the manifests without creating one', async () => {
    api.put('/api/v1/secrets', { metadata: { namespace: 'plimsoll-system', name: 'ca' }, type: 'Opaque' });
    const { authorities, version } = await store().read();
    expect(authorities).toBeUndefined();
    const written = { current, next: undefined, previousPem: '' };
    expect(await store().write(written, version)).toBe(true);
    expect((await store().read()).authorities).toEqual(written);
    expect(api.writes.map(({ method }) => method)).toEqual(['PUT']);
  });

  test('leaves what others wrote on the Secret, by which helm and GitOps find it again', async () => {
    const marks = {
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'meta.helm.sh/release-name': 'p' },
    };
    api.put('/api/v1/secrets', { metadata: { namespace: 'plimsoll-system', name: 'ca', ...marks }, type: 'Opaque' });
    const replica = store();
    const { version } = await replica.read();
    await replica.write({ current, next: undefined, previousPem: '' }, version);
    expect(api.all('/api/v1/secrets')[0]?.metadata).toMatchObject(marks);
  });

  test('does not write over another replica’s', async () => {
    const authorities = { current, next: undefined, previousPem: '' };
    await store().write(authorities, undefined);
    expect(await store().write(authorities, undefined)).toBe(false);
    expect(await store().write(authorities, '1')).toBe(false);
  });

  test('says what it could not do', async () => {
    api.failing = 403;
    await expect(store().read()).rejects.toThrow('cannot read Secret "plimsoll-system/ca": failing on purpose');
    await expect(store().write({ current, next: undefined, previousPem: '' }, undefined)).rejects.toThrow(
      'cannot create Secret "plimsoll-system/ca" (or apply it empty): failing on purpose',
    );
  });
});
