import { describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/cluster-target.ts';
import { at, contractHarness, eventually, pod, uniqueName } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import { registeredWebhooks, untilAsked } from './registered-webhooks.ts';

describe.skipIf(!hasCluster())('while no webhook answers', () => {
  const api = contractHarness(clusterTarget());
  const webhooks = registeredWebhooks(api);
  const pods = (): string => api.core('pods');
  const forged = (): object => ({ ...pod(uniqueName('forged')), status: { qosClass: 'Guaranteed' } });

  test('pods are let in with failure policy Ignore, and judged again afterwards', async () => {
    expect((await api.post(pods(), forged())).status).toBe(403);
    await webhooks.end('SIGKILL');
    const { status, body } = await api.post(pods(), forged());
    expect([status, at(body, 'message')]).toEqual([201, undefined]);
    await webhooks.start();
    await untilAsked(api);
  });

  test('nothing gets in with failure policy Fail', async () => {
    const { clientConfig } = await registered();
    const url = at(clientConfig, 'url')?.toString().replace('/validate', '');
    await webhooks.end('SIGTERM');
    await webhooks.start({ registration: { mode: 'Full', url, failurePolicy: 'Fail' } });
    await eventually(async () => expect(await registered()).toMatchObject({ failurePolicy: 'Fail' }));
    await webhooks.end('SIGKILL');
    await eventually(async () => {
      const { status, body } = await api.post(pods(), pod(uniqueName('late')));
      expect([status, at(body, 'message')]).toEqual([
        500,
        expect.stringContaining('failed calling webhook "priority.plimsoll.dev"'),
      ]);
    });
  });

  async function registered(): Promise<Record<string, unknown>> {
    const { body } = await api.get(`${ADMISSION}/validatingwebhookconfigurations/plimsoll`);
    return at(body, 'webhooks.0') as Record<string, unknown>;
  }
});
