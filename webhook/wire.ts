import { followServerVersion } from '#shared/kube/client/server-version.ts';
import { hostname } from 'node:os';
import type { AvoidLookup } from '#shared/domain/admission/cluster-state.ts';
import { type KubeClient, connect, createClient } from '#shared/kube/client/client.ts';
import { EVICTIONS_ACCOUNT, LABEL_IGNORE, NAMESPACE_SYSTEM, REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { createEventRecorder, type EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts';
import type { ProcessContext } from '#shared/runtime/run-program.ts';
import type { WebhookConfiguration } from './configuration.ts';
import type { HandlerSources } from './handlers/handlers.ts';
import { accountStore, createDisruptionAccounts } from './evictions/disruption-accounts.ts';
import { createEvictionCounter } from './evictions/eviction-counter.ts';
import { findSurvivors } from './evictions/read-eviction.ts';
import {
  createLiveClassesReader,
  createLiveStateReader,
  readNamespaceLabels,
  readNodeProtection,
} from './cluster-state/live-state.ts';
import { createCallerLanes } from './request-body/caller-lanes.ts';
import { createPendingReviews } from './request-body/fair-queue.ts';
import { createPodLookUp, findPodsOfClass } from './cluster-state/pod-look-up.ts';
import { createDenialEvents } from './events/denial-events.ts';
import { cacheAgeSeconds, createStateReader } from './cluster-state/cached-state.ts';
import { budgetResponse, createLimitLookUp, type LimitCaches } from './cluster-state/limit-caches.ts';
import { createCaches, type Caches, exportQuotas } from './cluster-state/caches.ts';
import { Ledgers } from './quota/ledgers.ts';

const MAX_LIVE_READ_MS = 1_000;
/** An agent has one eviction in flight; other accounts of ours and drains have a few. */
const EVICTIONS_PER_CALLER = 8;
/** Share of the request's deadline; the rest is for the answer and the look-up of quota holders. */
const SHARE_FOR_RESERVING = 0.7;
/** Share of the request's deadline; reading comes before the reservation. */
const SHARE_FOR_READING = 0.6;

interface WiredParts extends Pick<WebhookParts, 'client' | 'caches' | 'ledgers' | 'clock' | 'events' | 'metrics'> {
  readonly avoidedBy?: AvoidLookup | undefined;
  readonly limitCaches?: LimitCaches;
}

/** Everything that the handlers read, from caches and, if necessary, from the API server. */
export function createHandlerSources(
  { mode, requestSeconds, concurrentRequests, evictions, quotaHoldersNamed }: WebhookConfiguration,
  { client, caches, avoidedBy, limitCaches, ledgers, clock, events, metrics }: WiredParts,
): HandlerSources {
  const cluster = createStateReader(caches, clock, avoidedBy);
  const deadlineMs = requestSeconds * 1_000;
  const liveReadMs = Math.min(MAX_LIVE_READ_MS, deadlineMs * SHARE_FOR_READING);
  return {
    mode,
    pending: createPendingReviews(concurrentRequests),
    pendingOnLedger: createPendingReviews(concurrentRequests),
    evictionLanes: createCallerLanes({
      mostPerCaller: EVICTIONS_PER_CALLER,
      waitMs: deadlineMs * (1 - SHARE_FOR_RESERVING),
    }),
    protectionOnNode: (nodeName, timeoutMs) => readNodeProtection(client, nodeName, timeoutMs),
    evictions: createEvictionCounter({
      store: accountStore(client, { namespace: NAMESPACE_SYSTEM, name: EVICTIONS_ACCOUNT }),
      findSurvivors: (found, timeoutMs) => findSurvivors(client, found, timeoutMs),
      clock,
    }),
    evictionsPerMinute: evictions.perMinute,
    budgetResponse: () => (limitCaches === undefined ? 'Show' : budgetResponse(limitCaches)),
    accounts: createDisruptionAccounts({
      client,
      clock,
      metrics,
      ...(limitCaches !== undefined && { knownLimits: createLimitLookUp(limitCaches, clock) }),
    }),
    client,
    ledgers,
    clock,
    cluster,
    cacheAgeSeconds: () => cacheAgeSeconds(caches, clock),
    liveState: createLiveStateReader(client, cluster, liveReadMs),
    lookUpPods: createPodLookUp(client, clock),
    holdersNamed: quotaHoldersNamed,
    recordDenial: createDenialEvents({ client, events, clock }),
    liveClasses: createLiveClassesReader(client, cluster, liveReadMs),
    podsOfClass: (name) => findPodsOfClass(client, clock, name),
    withinMs: deadlineMs * SHARE_FOR_RESERVING,
    classAnnotations: (name) => caches.classes.get(name)?.annotations,
    isIgnored: async (namespace, timeoutMs) =>
      (await readNamespaceLabels(client, namespace, timeoutMs))?.get(LABEL_IGNORE) === 'true',
    cachedNamespaces: caches.namespaces,
    readLabels: (namespace) => readNamespaceLabels(client, namespace, liveReadMs),
  };
}

/** Common to all parts of the webhook. */
export interface WebhookParts extends ProcessContext {
  readonly configuration: WebhookConfiguration;
  readonly client: KubeClient;
  readonly caches: Caches;
  readonly ledgers: Ledgers;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
}

/** Connects to the API server; nothing is read before the caches run. Rejects with an error that says what to fix. */
export async function wireWebhook(configuration: WebhookConfiguration, context: ProcessContext): Promise<WebhookParts> {
  const { env, log, shutdown } = context;
  const metrics = createMetrics('webhook');
  const connection = await connect(configuration.kubeconfig, env);
  const client = createClient(connection, { userAgent: 'plimsoll-webhook', metrics, log });
  shutdown.onRelease('connections to the API server', () => client.close());
  await followServerVersion({ ...context, client }, shutdown.signal);
  const caches = createCaches({ ...context, client, metrics });
  exportQuotas(caches.priorityQuotas, metrics);
  const ledgers = new Ledgers({
    ...context,
    client,
    quotas: caches.priorityQuotas,
    namespaces: caches.namespaces,
    reservationMs: configuration.reservationSeconds * 1_000,
    sliceAfterMs: configuration.sliceAfterSeconds * 1_000,
    metrics,
  });
  shutdown.onRelease('slices of quotas', () => ledgers.close());
  const component = REPORTING_CONTROLLERS.webhook;
  const events = createEventRecorder({ ...context, client, metrics, component, instance: hostname() });
  shutdown.onRelease('events', () => events.flush());
  return { ...context, configuration, client, caches, ledgers, events, metrics };
}
