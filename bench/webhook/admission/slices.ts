import type { KubeClient } from '#shared/kube/client/client.ts';
import type { WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import type { Counts } from './counts.ts';
import { createPod } from './create-pod.ts';
import { podsPath, WEBHOOK_VARIANTS } from './variants.ts';

const CHARGES = /^plimsoll_quota_charges_total\{path="(?<path>\w+)"\} (?<count>\d+)$/gm;
const WITHIN_MS = 120_000;

/** The number of charges in the webhook's metrics: with a write of the ledger (`ledger`) or without (`slice`). */
export function chargesOf(metrics: string): Counts {
  const found = metrics.matchAll(CHARGES);
  return Object.fromEntries(
    [...found].map(({ groups }) => [groups?.['path'] ?? '', Number(groups?.['count'])] as const),
  );
}

/** Creates pods, and removes them, until the webhook spends a slice: it takes none while it is young or idle. */
export async function untilSliced(client: KubeClient, webhook: WebhookProcess): Promise<void> {
  const variant = WEBHOOK_VARIANTS.at(-1);
  if (variant === undefined) return;
  const until = performance.now() + WITHIN_MS;
  while ((chargesOf(await webhook.metrics())['slice'] ?? 0) === 0) {
    if (performance.now() > until) throw new Error(`no slice was spent within ${WITHIN_MS} ms`);
    await createPod(client, variant, `early-${crypto.randomUUID()}`);
  }
  await client.request({ method: 'DELETE', path: podsPath(variant), query: { gracePeriodSeconds: 0 } });
}
