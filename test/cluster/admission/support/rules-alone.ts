import { afterAll, beforeAll, inject } from 'vitest';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Harness } from '#test/contract/harness.ts';
import { installRules } from './install-rules.ts';
import { untilRulesInForce } from './rules-in-force.ts';

/** Unless given, the policies that refuse, on the shared control plane. */
interface RulesAlone {
  readonly policies?: readonly KubeObject[];
  readonly kubeconfigOf?: () => string;
}

/**
 * Registers hooks of the present `describe` that install the policies of the API server and start a webhook that
 * compiles the rules and is registered nowhere: what is refused, the API server refuses by itself.
 */
export function rulesAlone(
  api: Harness,
  { policies, kubeconfigOf = () => inject('kubeconfig') }: RulesAlone = {},
): void {
  let removeRules = (): Promise<void> => Promise.resolve();
  let compiler: WebhookProcess | undefined;

  beforeAll(async () => {
    removeRules = await installRules(api, policies);
    const place = { folder: inject('runFolder'), kubeconfig: kubeconfigOf() };
    compiler = await startWebhookProcess(place, {
      registration: { mode: 'None' },
      leaderElection: { namespace: api.namespace },
      tls: { secretName: 'unused', secretNamespace: api.namespace },
    });
    await untilRulesInForce(api);
  });
  afterAll(async () => {
    await compiler?.stop();
    await removeRules();
  });
}
