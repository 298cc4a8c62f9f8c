import { hostname } from 'node:os';
import { healthApp } from '#shared/http/health-app.ts';
import { serve } from '#shared/http/serve.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { connect } from '#shared/kube/client/connect.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import { REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { Surroundings } from '#shared/runtime/run-program.ts';
import { openAdmissionPort } from './admission-port.ts';
import { createCaches, eachCache, type Caches } from './cluster-state/caches.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { createCertificateRotator } from './certificates/certificate-rotator.ts';
import { createConditionWriter } from './conditions/condition-writer.ts';
import { createCertificateSource } from './certificates/create-certificate-source.ts';
import { createHandlerSources } from './handler-sources.ts';
import { createLeadership } from './leadership.ts';
import { Ledgers } from './quota/ledgers.ts';
import { exportQuotas } from './quota/quota-gauges.ts';
import { cachesCheck, stoppingCheck } from './readiness.ts';
import { createRegistration } from './registration/registration.ts';
import { createRuleReconciler } from './rules/rule-reconciler.ts';
import { createTrustCheck } from './registration/trust-check.ts';

/** Where a started webhook listens, and what it does with what breaks a rule. */
export interface Webhook {
  readonly port: number;
  readonly healthPort: number;
  readonly mode: WebhookConfiguration['mode'];
}

/** Builds and starts the webhook; everything ends with the shutdown. Rejects with an error that says what to fix. */
export async function startWebhook(configuration: WebhookConfiguration, surroundings: Surroundings): Promise<Webhook> {
  const { clock, log, env, shutdown } = surroundings;
  const metrics = createMetrics('webhook');
  const client = createClient(await connect(configuration.kubeconfig, env), { userAgent: 'plimsoll-webhook', metrics });
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
  const events = createEventRecorder({
    ...surroundings,
    client,
    metrics,
    component: REPORTING_CONTROLLERS.webhook,
    instance: hostname(),
  });
  shutdown.onRelease('events', () => events.flush());
  const sources = createHandlerSources(configuration, { client, caches, ledgers, clock, events });
  const certificates = createCertificateSource(configuration, { client, clock });
  const first = await certificates.load(() => false);
  const server = await openAdmissionPort(configuration, { sources, tls: first.tls, metrics, log });
  shutdown.onRelease('admission port', () => server.close());

  const rotator = createCertificateRotator({
    source: certificates,
    isTrusted: (caBundlePem) => registration.isTrusted(caBundlePem),
    use: ({ tls }) => server.setCertificate(tls),
    first,
    clock,
    log,
    metrics,
  });
  const registration = createRegistration({
    caBundlePem: () => rotator.caBundlePem(),
    client,
    configuration,
    port: server.port,
    clock,
    log,
  });
  const trust = createTrustCheck({
    client,
    host: ownAddress(configuration.host),
    port: server.port,
    isRegistered: configuration.registration.mode !== 'None',
    clock,
    log,
  });
  const checks = [
    stoppingCheck(shutdown),
    cachesCheck(caches),
    ledgers.check,
    rotator.check,
    registration.check,
    trust.check,
  ];
  const health = await serve({
    handler: healthApp({ checks, metrics, configuration }, log),
    host: configuration.healthHost,
    port: configuration.healthPort,
  });
  shutdown.onRelease('health port', () => health.close());
  // Registered last and so released first: not ready, but still answering until the Service stops routing here.
  shutdown.onRelease('drain', () => {
    server.stopKeepingAlive();
    return clock.sleep(configuration.drainSeconds * 1_000);
  });

  for (const cache of eachCache(caches)) void cache.run(shutdown.signal);
  void rotator.run(shutdown.signal);
  const rules = createRuleReconciler({ ...surroundings, client, caches, mode: configuration.mode, metrics });
  const unreadable = (quota: string) => ledgers.unreadable(quota);
  const conditions = createConditionWriter({ ...surroundings, client, caches, events, rules, unreadable });
  const leadership = createLeadership({
    ...surroundings,
    client,
    lease: configuration.leaderElection,
    duties: [rules.duty, conditions],
    metrics,
  });
  shutdown.onRelease('leadership', () => leadership.close());
  const loops = [registration, trust, ledgers, rules, leadership];
  void whenSynced(caches).then(() => Promise.all(loops.map((loop) => loop.run(shutdown.signal))));
  return { port: server.port, healthPort: health.port, mode: configuration.mode };
}

/** The address to reach this process: not every platform can connect to a wildcard address. */
function ownAddress(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

async function whenSynced(caches: Caches): Promise<void> {
  await Promise.all(eachCache(caches).map((cache) => cache.synced));
}
