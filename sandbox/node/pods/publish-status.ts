import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { PODS, resourcePath } from '#shared/kube/resource.ts';
import { podStatus } from './pod-status.ts';
import type { PodWorker } from './pod-worker.ts';
import type { WirePod } from '#sandbox/node/wire-pod.ts';

export interface PublisherPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  /** Aborts when the node stops. */
  readonly signal: AbortSignal;
}

export interface StatusPublisher {
  /** Reports that the pod's status has changed; writes are sequential, and the last state is always written. */
  readonly changed: () => void;
  /** Resolves when the current state is written, or the pod is gone. */
  readonly flushed: () => Promise<void>;
}

const RETRY_MS = 500;

/** Writes one pod's status as it changes, under its UID, until the pod is gone or the node stops. */
export function createStatusPublisher(
  worker: () => PodWorker,
  { client, clock, log, signal }: PublisherPorts,
): StatusPublisher {
  let isDirty = false;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (isDirty && !signal.aborted) {
      isDirty = false;
      if (await isWritten()) continue;
      isDirty = true;
      await clock.sleep(RETRY_MS, signal);
    }
    writing = undefined;
  }

  /** True also once it is terminating. */
  async function isWritten(): Promise<boolean> {
    const { metadata } = worker().pod();
    const address = { resource: PODS, namespace: metadata.namespace, name: metadata.name ?? '', subresource: 'status' };
    const patch = { metadata: { uid: metadata.uid }, status: podStatus(worker().facts(), clock.now()) };
    const outcome = await patchObject(client, address, patch, { type: 'strategic', fieldManager: 'kubelet', signal });
    if (outcome.kind === 'ok' || outcome.kind === 'notFound' || outcome.kind === 'conflict') return true;
    if (!signal.aborted)
      log.warn({ pod: metadata.name, kind: outcome.kind, message: outcome.message }, 'Pod status not written');
    return false;
  }

  return {
    changed() {
      isDirty = true;
      writing ??= Promise.resolve().then(write);
    },
    flushed: async () => {
      while (writing !== undefined) await writing;
    },
  };
}

/**
 * The kubelet's final DELETE of a terminated pod, with grace period 0, so that the object is removed. It is the only
 * DELETE in the sandbox without a grace period, and has the UID as precondition. Retried until the API server accepts
 * it.
 */
export async function deleteForGood({ client, clock, signal }: PublisherPorts, pod: WirePod): Promise<void> {
  const { namespace, name, uid } = pod.metadata;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
  const path = resourcePath(PODS, { namespace, name });
  while (!signal.aborted) {
    const { kind } = await client.request({ method: 'DELETE', path, body, signal });
    if (kind === 'ok' || kind === 'notFound' || kind === 'conflict') return;
    await clock.sleep(RETRY_MS, signal);
  }
}
