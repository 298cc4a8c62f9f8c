import { PODS, type Resource, resourcePath } from '#shared/kube/resource.ts';
import type { OwnerReference } from '#sandbox/api-server/wire/object.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { OwnedObject, PodTemplate } from './wire-workloads.ts';

/** One change that a controller wants, as data. */
export type Write =
  | {
      readonly kind: 'create';
      readonly resource: Resource;
      readonly namespace: string | undefined;
      readonly owner: OwnerReference;
      readonly object: object;
    }
  | { readonly kind: 'delete'; readonly resource: Resource; readonly object: OwnedObject }
  | {
      readonly kind: 'patch';
      readonly resource: Resource;
      readonly object: OwnedObject;
      readonly subresource?: string;
      /** JSON merge patch. */
      readonly patch: object;
    };

/** The creation of a pod from its controller's template. */
export function createPod(controller: OwnedObject, owner: OwnerReference, template: PodTemplate): Write {
  const { labels, annotations } = template.metadata ?? {};
  const { name = '', namespace } = controller.metadata;
  const metadata = { generateName: `${name}-`, namespace, labels, annotations, ownerReferences: [owner] };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec };
  return { kind: 'create', resource: PODS, namespace, owner, object };
}

/** Makes `controller` the owner of what it creates. */
export function referenceTo(owner: OwnedObject, apiVersion: string, kind: string): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name: name ?? '', uid: uid ?? '', controller: true, blockOwnerDeletion: true };
}

/** A patch of the status, or nothing if the object already has it. */
export function statusPatch(
  resource: Resource,
  object: OwnedObject,
  status: Readonly<Record<string, unknown>>,
): readonly Write[] {
  const present = (object['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const isSame = Object.entries(status).every(([key, value]) => JSON.stringify(present[key]) === JSON.stringify(value));
  return isSame ? [] : [{ kind: 'patch', resource, object, subresource: 'status', patch: { status } }];
}

export interface WritePorts {
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly expectations: Expectations;
  readonly log: Log;
}

/** Carries out one write. A refusal is logged and retried in a later round; a deleted object needs nothing. */
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

/** With the version that it was planned on: a concurrent change leads to a new plan. */
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

/** Created pods that have not been observed yet: until then their owner must not be counted again. */
export interface Expectations {
  created(ownerUid: string, uid: string): void;
  /** Why an owner must wait; a refused creation is retried with growing pauses. */
  refused(ownerUid: string): void;
  isWaiting(ownerUid: string, isSeen: (uid: string) => boolean): boolean;
}

interface Debt {
  readonly unseen: Set<string>;
  forgetAt: number;
  refusals: number;
  retryAt: number;
}

/** An object may also have gone before it was seen. */
const FORGET_AFTER_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** `now` gives monotonic milliseconds. */
export function createExpectations(now: () => number): Expectations {
  const debts = new Map<string, Debt>();

  function debtOf(ownerUid: string): Debt {
    const known = debts.get(ownerUid);
    if (known !== undefined) return known;
    const debt: Debt = { unseen: new Set(), forgetAt: 0, refusals: 0, retryAt: 0 };
    debts.set(ownerUid, debt);
    return debt;
  }

  return {
    created(ownerUid, uid) {
      const debt = debtOf(ownerUid);
      debt.unseen.add(uid);
      debt.forgetAt = now() + FORGET_AFTER_MS;
      debt.refusals = 0;
    },
    refused(ownerUid) {
      const debt = debtOf(ownerUid);
      debt.retryAt = now() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** debt.refusals);
      debt.refusals += 1;
    },
    isWaiting(ownerUid, isSeen) {
      const debt = debts.get(ownerUid);
      if (debt === undefined) return false;
      for (const uid of debt.unseen) if (isSeen(uid) || now() >= debt.forgetAt) debt.unseen.delete(uid);
      const isWaiting = debt.unseen.size > 0 || now() < debt.retryAt;
      if (!isWaiting && debt.refusals === 0) debts.delete(ownerUid);
      return isWaiting;
    },
  };
}
