import { hostname } from 'node:os';
import { connect, createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { createEventRecorder, type EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts';
import type { Surroundings } from '#shared/runtime/run-program.ts';
import { createCaches, type Caches } from './cluster-state/caches.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { Ledgers } from './quota/ledgers.ts';
import { exportQuotas } from './quota/quota-gauges.ts';

/** What the parts of the webhook share. */
export interface WebhookParts extends Surroundings {
  readonly configuration: WebhookConfiguration;
  readonly client: KubeClient;
  readonly caches: Caches;
  readonly ledgers: Ledgers;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
}

/** Connects to the API server; nothing is read before the caches run. Rejects with an error that says what to fix. */
export async function wireWebhook(
  configuration: WebhookConfiguration,
  surroundings: Surroundings,
): Promise<WebhookParts> {
  const { env, log, shutdown } = surroundings;
  const metrics = createMetrics('webhook');
  const connection = await connect(configuration.kubeconfig, env);
  const client = createClient(connection, { userAgent: 'plimsoll-webhook', metrics, log });
  shutdown.onRelease('connections to the API server', () => client.close());
  const caches = createCaches({ ...surroundings, client, metrics });
  exportQuotas(caches.priorityQuotas, metrics);
  const ledgers = new Ledgers({
    ...surroundings,
    client,
    quotas: caches.priorityQuotas,
    namespaces: caches.namespaces,
    reservationMs: configuration.reservationSeconds * 1_000,
    sliceAfterMs: configuration.sliceAfterSeconds * 1_000,
    metrics,
  });
  shutdown.onRelease('slices of quotas', () => ledgers.close());
  const component = REPORTING_CONTROLLERS.webhook;
  const events = createEventRecorder({ ...surroundings, client, metrics, component, instance: hostname() });
  shutdown.onRelease('events', () => events.flush());
  return { ...surroundings, configuration, client, caches, ledgers, events, metrics };
}
