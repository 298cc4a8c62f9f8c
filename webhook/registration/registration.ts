import type { HealthCheck } from '#shared/http/health.ts';
import type { ClientContext, KubeClient } from '#shared/kube/client/client.ts';
import {
  type WebhookTarget,
  webhookConfigurations,
  type RegistrationOptions,
} from '#shared/kube/admission/webhook-configurations.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { ReadOwn } from '#webhook/cluster-state/read-own.ts';
import { ERRORS, LOG, registering } from '#webhook/messages.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { createObject, getObject, replaceObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, type Resource } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES, WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { patchAsRead } from './patch-as-read.ts';
import { withPresentCondition } from './pod-entries.ts';

export interface RegistrationSources extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly configuration: WebhookConfiguration;
  /** The port that the webhook listens on. */
  readonly port: number;
  readonly caBundlePem: () => string | undefined;
  readonly read: ReadOwn;
}

/** Keeps the address and the CA bundle in the webhook configurations current, and reports whether they are. */
export interface Registration {
  run(signal: AbortSignal): Promise<void>;
  /** Registers if anything has changed or was not verified for a while. */
  reconcile(): Promise<void>;
  /** Whether every configuration has exactly this bundle, as of the last write. */
  isTrusted(caBundlePem: string): boolean;
  readonly check: HealthCheck;
}

const RECONCILE_EVERY_MS = 1_000;
/** The interval after which a change of our entries by another client is noticed. */
const VERIFY_EVERY_MS = 30_000;
const DEADLINE_MS = 10_000;
const BACKOFF = { initialMs: 200, maxMs: 30_000, factor: 2, jitter: 0.5 };

/** Nothing is written before `run` or `reconcile`. */
export function createRegistration(sources: RegistrationSources): Registration {
  const { clock, log, configuration, caBundlePem } = sources;
  const isOurs = configuration.registration.mode !== 'None';
  let problem: string | undefined = isOurs ? 'not registered yet' : undefined;
  let registered: { readonly pem: string | undefined; readonly at: number } | undefined;

  async function reconcile(): Promise<void> {
    const pem = caBundlePem();
    if (!isOurs || isCurrent(pem)) return;
    await registerOnce(sources, pem);
    if (registered?.pem !== pem) log.info({ mode: configuration.registration.mode }, LOG.registered);
    registered = { pem, at: clock.monotonic() };
    problem = undefined;
  }

  function isCurrent(pem: string | undefined): boolean {
    return registered !== undefined && registered.pem === pem && clock.monotonic() - registered.at < VERIFY_EVERY_MS;
  }

  const rounds = reportRounds(log, LOG.registrationFailed);
  function onError(error: unknown): void {
    registered = undefined;
    problem = errorText(error);
    rounds.onError(error);
  }
  return {
    run: (signal) =>
      repeat(
        {
          task: reconcile,
          periodMs: RECONCILE_EVERY_MS,
          deadlineMs: DEADLINE_MS,
          backoff: BACKOFF,
          ...rounds,
          onError,
          clock,
        },
        signal,
      ),
    reconcile,
    isTrusted: (pem) => registered?.pem === pem,
    check: { name: 'registration', problem: () => problem },
  };
}

async function registerOnce(
  { client, read, configuration, port }: RegistrationSources,
  pem: string | undefined,
): Promise<void> {
  const { mode, failurePolicy } = configuration.registration;
  if (mode === 'CaBundle' && pem !== undefined) await registerCaBundle(client, pem, read);
  if (mode !== 'Full') return;
  await registerFully(client, {
    target: targetOf(configuration, port),
    failurePolicy,
    gatedCallers: configuration.gatedCallers,
    ...(pem !== undefined && { caBundlePem: pem }),
  });
}

/** Replaces port 0 in the registered URL by the listening port, which may have been chosen freely. */
function targetOf({ registration }: WebhookConfiguration, port: number): WebhookTarget {
  const { url, serviceNamespace: namespace, serviceName: name, servicePort } = registration;
  if (url === undefined) return { kind: 'service', namespace, name, port: servicePort };
  return { kind: 'url', url: url.replace(/:0\/?$/, `:${port}`).replace(/\/$/, '') };
}

const RESOURCES: readonly [Resource, Resource] = [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS];
const FIELD_MANAGER = COMPONENT_NAMES.webhook;

/** Writes both webhook configurations completely. Rejects with the API server's message. */
export async function registerFully(client: KubeClient, options: RegistrationOptions): Promise<void> {
  const wanted = webhookConfigurations(options);
  await Promise.all(wanted.map((object, index) => writeConfiguration(client, resourceAt(index), object)));
}

/** Adds the CA bundle to both configurations, which must exist, unless they already have it. */
export async function registerCaBundle(client: KubeClient, caBundlePem: string, read: ReadOwn): Promise<void> {
  const caBundle = Buffer.from(caBundlePem).toString('base64');
  await Promise.all(RESOURCES.map((resource) => patchCaBundle({ client, read, resource }, caBundle)));
}

async function writeConfiguration(client: KubeClient, resource: Resource, object: KubeObject): Promise<void> {
  const created = await createObject(client, { resource }, object, { fieldManager: FIELD_MANAGER });
  if (created.kind !== 'alreadyExists') return void expectOk(created, registering(resource));
  const address = { resource, name: WEBHOOK_CONFIGURATION };
  const present = expectOk(await getObject(client, address), registering(resource));
  const { resourceVersion = '' } = present.metadata;
  const next = withPresentCondition({ ...object, metadata: { ...object.metadata, resourceVersion } }, present);
  expectOk(await replaceObject(client, address, next, { fieldManager: FIELD_MANAGER }), registering(resource));
}

function patchCaBundle(
  access: Pick<RegistrationSources, 'client' | 'read'> & { readonly resource: Resource },
  caBundle: string,
): Promise<void> {
  return patchAsRead({
    ...access,
    operationsOf: (current) => {
      if (current === undefined) throw new Error(ERRORS.notRegistered(access.resource));
      return webhookEntries(current).flatMap((entry, index) =>
        entry.caBundle === caBundle
          ? []
          : [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }],
      );
    },
  });
}

function webhookEntries(configuration: KubeObject): readonly { readonly caBundle: unknown }[] {
  const entries = configuration['webhooks'];
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: unknown) => {
    const clientConfig = isRecord(entry) ? entry['clientConfig'] : undefined;
    return { caBundle: isRecord(clientConfig) ? clientConfig['caBundle'] : undefined };
  });
}

function resourceAt(index: number): Resource {
  return index === 0 ? MUTATING_WEBHOOKS : VALIDATING_WEBHOOKS;
}
