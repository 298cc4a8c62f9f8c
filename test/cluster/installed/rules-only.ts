import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { WEBHOOK_ENTRIES } from '#shared/kube/wire-names.ts';
import { kubectl } from '#test/cluster/kubectl.ts';
import { at } from '#test/contract/harness.ts';
import type { InstalledCluster } from './installed-cluster.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));

/** Registers a test on the overlay that leaves pods to the rules of the API server. */
export function rulesOnly({ own }: InstalledCluster): void {
  async function built(folder: string): Promise<readonly unknown[]> {
    const { status, stdout, stderr } = await kubectl(own().cluster.kubeconfig, ['kustomize', `${DEPLOY}${folder}`]);
    expect([status, stderr]).toEqual([0, '']);
    return parseAllDocuments(stdout).map((document) => document.toJS() as unknown);
  }

  test('deploy/overlays/rules-only is deploy/base without the validating entry for pods', async () => {
    const [base, overlay] = [await built('base'), await built('overlays/rules-only')];
    const wanted = base.map((object) => {
      if (at(object, 'kind') !== 'ValidatingWebhookConfiguration') return object;
      const entries = at(object, 'webhooks') as readonly { readonly name: string }[];
      const webhooks = entries.filter(({ name }) => name !== WEBHOOK_ENTRIES.priority);
      expect(webhooks).toHaveLength(entries.length - 1);
      return { ...(object as object), webhooks };
    });
    expect(overlay).toEqual(wanted);
  });
}
