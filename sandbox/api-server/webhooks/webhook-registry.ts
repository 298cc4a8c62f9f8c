import type { Store } from '#sandbox/api-server/storage/store.ts';
import { webhooksOf, type Webhook } from './webhook.ts';

/** The registered webhooks of one kind, by configuration name, then as written. */
export interface WebhookRegistry {
  readonly mutating: () => readonly Webhook[];
  readonly validating: () => readonly Webhook[];
}

/** Follows the stored configurations; a change counts for the next request. */
export function webhookRegistry(store: Store): WebhookRegistry {
  return {
    mutating: compiled(store, 'mutatingwebhookconfigurations'),
    validating: compiled(store, 'validatingwebhookconfigurations'),
  };
}

function compiled(store: Store, plural: string): () => readonly Webhook[] {
  const collection = store.collection(`${plural}.admissionregistration.k8s.io`);
  let webhooks: readonly Webhook[] | undefined;
  collection.onChange(() => {
    webhooks = undefined;
  });
  return () => (webhooks ??= collection.values().flatMap(({ object }) => webhooksOf(object)));
}
