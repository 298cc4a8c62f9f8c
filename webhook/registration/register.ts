import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { createObject, getObject, patchObject, replaceObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, type Resource } from '#shared/kube/resource.ts';
import { webhookConfigurations, type RegistrationOptions } from '#shared/kube/admission/webhook-configurations.ts';
import { COMPONENT_NAMES, WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { withPresentCondition } from './pod-entries.ts';
import { ERRORS } from '#webhook/messages.ts';

const RESOURCES: readonly [Resource, Resource] = [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS];
const FIELD_MANAGER = COMPONENT_NAMES.webhook;

/** Writes both webhook configurations completely. Rejects with the API server's message. */
export async function registerFully(client: KubeClient, options: RegistrationOptions): Promise<void> {
  const wanted = webhookConfigurations(options);
  await Promise.all(wanted.map((object, index) => writeConfiguration(client, resourceAt(index), object)));
}

/** Adds the CA bundle to both configurations, which must exist, unless they already have it. */
export async function registerCaBundle(client: KubeClient, caBundlePem: string): Promise<void> {
  const caBundle = Buffer.from(caBundlePem).toString('base64');
  await Promise.all(RESOURCES.map((resource) => patchCaBundle(client, resource, caBundle)));
}

async function writeConfiguration(client: KubeClient, resource: Resource, object: KubeObject): Promise<void> {
  const created = await createObject(client, { resource }, object, { fieldManager: FIELD_MANAGER });
  if (created.kind !== 'alreadyExists') return void expectOk(created, resource);
  const address = { resource, name: WEBHOOK_CONFIGURATION };
  const present = expectOk(await getObject(client, address), resource);
  const { resourceVersion = '' } = present.metadata;
  const next = withPresentCondition({ ...object, metadata: { ...object.metadata, resourceVersion } }, present);
  expectOk(await replaceObject(client, address, next, { fieldManager: FIELD_MANAGER }), resource);
}

async function patchCaBundle(client: KubeClient, resource: Resource, caBundle: string): Promise<void> {
  const address = { resource, name: WEBHOOK_CONFIGURATION };
  const current = expectOk(await getObject(client, address), resource);
  const entries = webhookEntries(current);
  const operations = entries.flatMap((entry, index) =>
    entry.caBundle === caBundle
      ? []
      : [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }],
  );
  if (operations.length === 0) return;
  // Test the version first: a concurrent change of the list could move the entries.
  const guard = { op: 'test', path: '/metadata/resourceVersion', value: current.metadata.resourceVersion };
  const patched = await patchObject(client, address, [guard, ...operations], {
    type: 'json',
    fieldManager: FIELD_MANAGER,
  });
  expectOk(patched, resource);
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

function expectOk<T>(outcome: Outcome<T>, { kind }: Resource): T {
  if (outcome.kind === 'ok') return outcome.object;
  throw new Error(ERRORS.registration(kind, WEBHOOK_CONFIGURATION, outcome.message));
}
