import { afterAll, beforeAll, expect, inject } from 'vitest';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { eventually, type Harness, pod } from '#test/contract/harness.ts';
import { installRules } from './install-rules.ts';

/**
 * Registers hooks of the present `describe` that install the policies of the API server and start a webhook that
 * compiles the rules and is registered nowhere: what is refused, the API server refuses by itself.
 */
export function rulesAlone(api: Harness): void {
  let removeRules = (): Promise<void> => Promise.resolve();
  let compiler: WebhookProcess | undefined;

  beforeAll(async () => {
    removeRules = await installRules(api);
    const place = { folder: inject('runFolder'), kubeconfig: inject('kubeconfig') };
    compiler = await startWebhookProcess(place, {
      registration: { mode: 'None' },
      leaderElection: { namespace: api.namespace },
      tls: { secretName: 'unused', secretNamespace: api.namespace },
    });
    await eventually(async () => {
      const forged = { ...pod('probe'), status: { qosClass: 'Guaranteed' } };
      expect((await api.post(api.core('pods'), forged, { query: { dryRun: 'All' } })).status).toBe(403);
    }, 30_000);
  });
  afterAll(async () => {
    await compiler?.stop();
    await removeRules();
  });
}
