import { cachesCheck, openHealthPort } from '#shared/http/health.ts';
import type { ProcessContext } from '#shared/runtime/run-program.ts';
import { unsyncedCaches } from './cluster-state/cached-state.ts';
import { eachCache, type Caches } from './cluster-state/caches.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { createOwnObjects, type OwnObjects } from './rules/own-objects.ts';
import { createThresholdRecorder } from './conditions/threshold-recorder.ts';
import { createConditionWriter } from './conditions/condition-writer.ts';
import { runController } from '#shared/kube/lease/run-controller.ts';
import type { Nevertheless } from '#shared/kube/admission/left-to-webhook.ts';
import { createPodEntries } from './registration/pod-entries.ts';
import { RuleReconciler } from './rules/rule-reconciler.ts';
import { wireWebhook, type WebhookParts, createHandlerSources } from './wire.ts';
import { createAvoidLists, createAvoidLookup, namespacesAvoiding } from './cluster-state/avoided-nodes.ts';
import { budgetResponse, createLimitCaches } from './cluster-state/limit-caches.ts';
import { openAdmissionPort } from './admission-port.ts';
import { createCertificateRotator } from './certificates/certificate-rotator.ts';
import { createCertificateSource } from './certificates/certificate-source.ts';
import { createRegistration } from './registration/registration.ts';
import { createTrustCheck } from './registration/trust-check.ts';

/** Where a running webhook listens, and how it treats violations. */
export interface Webhook {
  readonly port: number;
  readonly healthPort: number;
  readonly mode: WebhookConfiguration['mode'];
}

/** Builds and starts the webhook; everything ends with the shutdown. Rejects with an error that says what to fix. */
export async function startWebhook(configuration: WebhookConfiguration, context: ProcessContext): Promise<Webhook> {
  const parts = await wireWebhook(configuration, context);
  const { caches, ledgers, shutdown } = parts;
  const own = createOwnObjects(parts);
  const { server, rotator, registration, trust, followed, nevertheless } = await openServing({ ...parts, ...own });
  const checks = [
    cachesCheck(() => unsyncedCaches(caches)),
    ledgers.check,
    rotator.check,
    registration.check,
    trust.check,
  ];
  const health = await openHealthPort({ ...parts, checks, server });

  for (const each of [...eachCache(caches), ...own.copies, ...followed, rotator]) void each.run(shutdown.signal);
  const loops = [registration, trust, ledgers, ...createDuties({ ...parts, ...own }, nevertheless)];
  void whenSynced(caches).then(() => Promise.all(loops.map((loop) => loop.run(shutdown.signal))));
  return { port: server.port, healthPort: health.port, mode: configuration.mode };
}

/** The duties of the leader: it compiles the rules of the API server and writes conditions. */
function createDuties(parts: WebhookParts & OwnObjects, nevertheless: () => Nevertheless) {
  const { caches, configuration, ledgers, shutdown } = parts;
  const rules = new RuleReconciler({ ...parts, mode: configuration.mode });
  const conditions = createConditionWriter({ ...parts, rules, uncharged: (quota) => ledgers.uncharged(quota) });
  const podEntries = createPodEntries({
    ...parts,
    rules: () => {
      const inForce = rules.inForce();
      return inForce && { ...inForce, avoiding: nevertheless().avoiding };
    },
    configured: () => ({
      namespaces: [...caches.namespaces.values()],
      policies: [...caches.policies.values()],
      quotas: [...caches.priorityQuotas.values()],
    }),
    nevertheless,
  });
  const isRegistering = configuration.registration.mode !== 'None';
  const leader = parts.metrics.gauge('plimsoll_webhook_leader', 'Whether this replica is the leader (1) or not (0)');
  leader.set(0);
  const led = [rules.part, conditions, createThresholdRecorder(parts), ...(isRegistering ? [podEntries] : [])];
  let leading = Promise.resolve();
  shutdown.onRelease('leadership', () => leading);
  const lead = (signal: AbortSignal): Promise<void> => {
    leading = runController({ ...parts, lease: configuration.leaderElection, leader, parts: led }, signal);
    return leading;
  };
  return [rules, { run: lead }];
}

async function whenSynced(caches: Caches): Promise<void> {
  await Promise.all(eachCache(caches).map((cache) => cache.synced));
}

/** Opens the admission port with its certificate; the API server calls it once the registration runs. */
async function openServing(parts: WebhookParts & OwnObjects) {
  const { configuration, client, clock, shutdown } = parts;
  const certificates = createCertificateSource(configuration, { client, clock });
  const first = await certificates.load(() => false);
  const isAvoiding = configuration.avoidNodes === 'On';
  const avoidLists = createAvoidLists(parts);
  const limitCaches = createLimitCaches(parts);
  const avoidedBy = isAvoiding ? createAvoidLookup(avoidLists, clock) : undefined;
  const sources = createHandlerSources(configuration, { ...parts, avoidedBy, limitCaches });
  const server = await openAdmissionPort(configuration, { ...parts, sources, tls: first.tls });
  shutdown.onRelease('admission port', () => server.close());
  const rotator = createCertificateRotator({
    ...parts,
    source: certificates,
    isTrusted: (caBundlePem) => registration.isTrusted(caBundlePem),
    use: ({ tls }) => server.setCertificate(tls),
    first,
  });
  const registration = createRegistration({
    ...parts,
    caBundlePem: () => rotator.caBundlePem(),
    port: server.port,
  });
  const trust = createTrustCheck({
    ...parts,
    host: server.ownAddress,
    port: server.port,
    isRegistered: configuration.registration.mode !== 'None',
  });
  const nevertheless = (): Nevertheless => ({
    avoiding: isAvoiding ? namespacesAvoiding(avoidLists.values()) : [],
    judgesBudgets: budgetResponse(limitCaches) !== 'Show',
  });
  const followed = [limitCaches.limits, limitCaches.policies, ...(isAvoiding ? [avoidLists] : [])];
  return { server, rotator, registration, trust, nevertheless, followed };
}
