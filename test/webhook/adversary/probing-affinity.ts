import { beforeAll, describe, expect, test } from 'vitest';
import { permittedPod, type Stage } from './stage.ts';

const APP = { app: 'secret-project' };
const LABELS = { classified: 'yes' };

/** The tenant probes with pod affinity which pods run in a namespace that it may not read, and how it is labelled. */
export function probingAffinity(stage: Stage): void {
  describe('a tenant that probes another namespace by affinity', () => {
    beforeAll(async () => {
      const { honest } = stage;
      await honest.patch(`/api/v1/namespaces/${honest.namespace}`, { metadata: { labels: LABELS } }, 'merge');
      const spec = { schedulerName: 'none', containers: [{ name: 'main', image: 'registry.test/idle:1' }] };
      expect((await honest.post(honest.core('pods'), { metadata: { name: 'low', labels: APP }, spec })).status).toBe(
        201,
      );
    });

    async function warnings(term: object): Promise<readonly unknown[]> {
      const required = [{ topologyKey: 'zone', labelSelector: { matchLabels: APP }, ...term }];
      const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
      const { status, headers } = await stage.attacker()(
        'POST',
        `${stage.tenant.core('pods')}?dryRun=All`,
        permittedPod(stage, { affinity }),
      );
      return [status, headers['warning']];
    }

    test('gets the same answers whether pods exist or not', async () => {
      const answers = [
        await warnings({ namespaces: [stage.honest.namespace] }),
        await warnings({ namespaces: ['no-such-namespace'] }),
        await warnings({ namespaceSelector: { matchLabels: LABELS } }),
        await warnings({ namespaceSelector: { matchLabels: { classified: 'no' } } }),
        await warnings({ namespaceSelector: {} }),
      ];
      expect(answers).toEqual(answers.map(() => [201, undefined]));
    });
  });
}
