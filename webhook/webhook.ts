import { cachesCheck, openHealthPort } from '#shared/http/health-port.ts';
import type { Surroundings } from '#shared/runtime/run-program.ts';
import { unsyncedCaches } from './cluster-state/cached-state.ts';
import { eachCache, type Caches } from './cluster-state/caches.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { createConditionWriter } from './conditions/condition-writer.ts';
import { createLeadership } from './leadership.ts';
import { createPodEntries } from './registration/pod-entries.ts';
import { RuleReconciler } from './rules/rule-reconciler.ts';
import { openServing } from './serving.ts';
import { wireWebhook, type WebhookParts } from './wire.ts';

/** Where a started webhook listens, and what it does with what breaks a rule. */
export interface Webhook {
  readonly port: number;
  readonly healthPort: number;
  readonly mode: WebhookConfiguration['mode'];
}

/** Builds and starts the webhook; everything ends with the shutdown. Rejects with an error that says what to fix. */
export async function startWebhook(configuration: WebhookConfiguration, surroundings: Surroundings): Promise<Webhook> {
  const parts = await wireWebhook(configuration, surroundings);
  const { caches, ledgers, shutdown } = parts;
  const { server, rotator, registration, trust, followed, hasAvoidLists } = await openServing(parts);
  const checks = [
    cachesCheck(() => unsyncedCaches(caches)),
    ledgers.check,
    rotator.check,
    registration.check,
    trust.check,
  ];
  const health = await openHealthPort({ ...parts, checks, server });

  for (const each of [...eachCache(caches), ...followed, rotator]) void each.run(shutdown.signal);
  const loops = [registration, trust, ledgers, ...createDuties(parts, hasAvoidLists)];
  void whenSynced(caches).then(() => Promise.all(loops.map((loop) => loop.run(shutdown.signal))));
  return { port: server.port, healthPort: health.port, mode: configuration.mode };
}

/** What one replica does for all: it compiles the rules of the API server and writes conditions. */
function createDuties(parts: WebhookParts, hasAvoidLists: () => boolean) {
  const { configuration, ledgers, shutdown } = parts;
  const rules = new RuleReconciler({ ...parts, mode: configuration.mode });
  const conditions = createConditionWriter({ ...parts, rules, uncharged: (quota) => ledgers.uncharged(quota) });
  const podEntries = createPodEntries({
    ...parts,
    rules: () => {
      const inForce = rules.inForce();
      return inForce && { ...inForce, isAvoiding: hasAvoidLists() };
    },
  });
  const isRegistering = configuration.registration.mode !== 'None';
  const duties = [rules.duty, conditions, ...(isRegistering ? [podEntries] : [])];
  const leadership = createLeadership({ ...parts, lease: configuration.leaderElection, duties });
  shutdown.onRelease('leadership', () => leadership.close());
  return [rules, leadership];
}

async function whenSynced(caches: Caches): Promise<void> {
  await Promise.all(eachCache(caches).map((cache) => cache.synced));
}
