import { expect, test } from 'vitest';
import { WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import { at } from '#test/contract/harness.ts';
import { builtManifests } from '#test/cluster/installed/support/built-manifests.ts';
import type { InstalledCluster } from '#test/cluster/installed/support/installed-cluster.ts';

/** Registers a test on the overlay that leaves pods to the rules of the API server. */
export function rulesOnly({ own }: InstalledCluster): void {
  const built = (folder: string) => builtManifests(own().cluster.kubeconfig, folder);

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
