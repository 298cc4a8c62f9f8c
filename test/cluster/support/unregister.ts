import { deleteObject } from '#shared/kube/client/objects.ts';
import { MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import { WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { testClient } from './control-plane/test-client.ts';

/** Takes Plimsoll's webhook out of a cluster's ways, which would else refuse pods once it is gone. Rejects when that fails. */
export async function unregister(kubeconfig: string): Promise<void> {
  const client = await testClient(kubeconfig);
  try {
    for (const resource of [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS]) {
      const outcome = await deleteObject(client, { resource, name: WEBHOOK_CONFIGURATION });
      if (outcome.kind !== 'ok' && outcome.kind !== 'notFound') {
        throw new Error(`cannot remove the ${resource.plural} ${WEBHOOK_CONFIGURATION}: ${outcome.message}`);
      }
    }
  } finally {
    client.close();
  }
}
