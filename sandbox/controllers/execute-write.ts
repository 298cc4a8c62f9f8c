import type { KubeClient } from '#shared/kube/client/client.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { resourcePath } from '#shared/kube/resource.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Expectations } from './expectations.ts';
import type { Write } from './write.ts';

export interface WritePorts {
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly expectations: Expectations;
  readonly log: Log;
}

/** Carries out one write. What is refused is logged and tried again in a later round; what is gone needs nothing. */
export async function executeWrite(ports: WritePorts, write: Write): Promise<void> {
  switch (write.kind) {
    case 'create':
      await create(ports, write);
      break;
    case 'delete':
      note(ports, write, await remove(ports.client, write));
      break;
    case 'patch':
      note(ports, write, await patch(ports.client, write));
      break;
  }
}

async function create(ports: WritePorts, write: Extract<Write, { kind: 'create' }>): Promise<void> {
  const { owner, resource, namespace, object } = write;
  const outcome = await createObject(ports.client, { resource, namespace }, object);
  if (outcome.kind === 'ok') {
    ports.expectations.created(owner.uid, outcome.object.metadata.uid ?? '');
    return;
  }
  const { apiVersion, kind, name, uid } = owner;
  ports.expectations.refused(uid);
  ports.events.record({
    regarding: { apiVersion, kind, name, uid, ...(namespace !== undefined && { namespace }) },
    type: 'Warning',
    reason: 'FailedCreate',
    note: `Error creating: ${outcome.message}`,
    action: 'Create',
  });
}

function remove(
  client: KubeClient,
  { resource, object }: Extract<Write, { kind: 'delete' }>,
): Promise<Outcome<unknown>> {
  const { namespace, name, uid } = object.metadata;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid }, propagationPolicy: 'Background' };
  return client.request({ method: 'DELETE', path: resourcePath(resource, { namespace, name }), body });
}

/** Under the version it was planned on: another change in between leads to a new plan. */
function patch(client: KubeClient, write: Extract<Write, { kind: 'patch' }>): Promise<Outcome<unknown>> {
  const { resource, object, subresource } = write;
  const { namespace, name = '', resourceVersion } = object.metadata;
  const { metadata = {}, ...rest } = write.patch as { readonly metadata?: object };
  const body = { ...rest, metadata: { ...metadata, resourceVersion } };
  const address = { resource, namespace, name, ...(subresource !== undefined && { subresource }) };
  return patchObject(client, address, body, { type: 'merge', fieldManager: 'kube-controller-manager' });
}

function note({ log }: WritePorts, write: Write, outcome: Outcome<unknown>): void {
  if (outcome.kind === 'ok' || outcome.kind === 'notFound' || outcome.kind === 'conflict') return;
  log.warn(
    { write: write.kind, resource: write.resource.plural, message: outcome.message },
    'Controller write refused',
  );
}
