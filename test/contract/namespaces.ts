import { expect, test } from 'vitest';
import { at, configMap, contractHarness, type ContractTarget, refusal, uniqueName } from './harness.ts';
import { eventually } from '#test/build/waiting.ts';

/** The namespace controller of Kubernetes asks again after 5 to 60 s, more than once where a kind has just been removed. */
const ENDS_WITHIN_MS = 110_000;

/** A namespace's life and end. */
export function namespaceContract(target: () => ContractTarget): void {
  const api = contractHarness(target);

  test('carries its name as a label and is active', async () => {
    const { body } = await api.get(`/api/v1/namespaces/${api.namespace}`);
    expect(body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': api.namespace } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });

  test('the system namespaces are there', async () => {
    for (const name of ['default', 'kube-system']) {
      expect((await api.get(`/api/v1/namespaces/${name}`)).status).toBe(200);
    }
    const { status, body } = await api.remove('/api/v1/namespaces/default');
    expect(status).toBe(403);
    expect(at(body, 'message')).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
  });

  test(
    'takes everything in it along, and refuses new objects meanwhile',
    async () => {
      const name = uniqueName('ending');
      const path = `/api/v1/namespaces/${name}`;
      await api.post('/api/v1/namespaces', { metadata: { name } });
      const held = { ...configMap('held'), metadata: { name: 'held', finalizers: ['test.plimsoll.dev/hold'] } };
      await api.post(`${path}/configmaps`, held);
      await api.post(`${path}/configmaps`, configMap('free'));
      const { status, body } = await api.remove(path);
      expect(status).toBe(200);
      expect(at(body, 'status.phase')).toBe('Terminating');
      const refused = await api.post(`${path}/configmaps`, configMap('late'));
      expect(refused.status).toBe(403);
      expect(refused.body).toMatchObject(
        refusal(
          403,
          'Forbidden',
          `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        ),
      );
      await eventually(async () => expect((await api.get(`${path}/configmaps/free`)).status).toBe(404), ENDS_WITHIN_MS);
      await api.patch(`${path}/configmaps/held`, { metadata: { finalizers: null } }, 'merge');
      await eventually(async () => expect((await api.get(path)).status).toBe(404), ENDS_WITHIN_MS);
    },
    2 * ENDS_WITHIN_MS + 10_000,
  );
}
