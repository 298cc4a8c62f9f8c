import { encodeQueueSelectors } from '#shared/api/queue-selectors.ts';
import { API_VERSION, COMPONENT_NAMES, QUEUE_SELECTORS_NAME } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { QUEUE_SELECTORS } from '#shared/kube/resource.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import type { StatusPorts } from './status-writer.ts';

const FIELDS = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;
/** What another client wrote there is corrected after this time. */
const VALID_MS = 300_000;

/** Returns a function to call once a second: it tells the API server which namespaces the queues take. Never rejects. */
export function createSelectorKeeper(
  ports: Omit<StatusPorts, 'metrics' | 'reclaim'>,
): (signal: AbortSignal) => Promise<void> {
  const faults = faultLog(ports.log, 'Selectors of queues not written');
  let written = { text: '', untilMs: -Infinity };
  return async (signal) => {
    const spec = encodeQueueSelectors(Array.from(ports.queues(), ({ object }) => object));
    const text = JSON.stringify(spec);
    if (!ports.term.isHeld() || (text === written.text && ports.clock.monotonic() < written.untilMs)) return;
    const outcome = await write(ports.client, spec, signal);
    if (outcome.kind === 'ok') written = { text, untilMs: ports.clock.monotonic() + VALID_MS };
    if (!signal.aborted) faults.answered(QUEUE_SELECTORS_NAME, outcome);
  };
}

async function write(client: KubeClient, spec: object, signal: AbortSignal) {
  const address = { resource: QUEUE_SELECTORS, name: QUEUE_SELECTORS_NAME };
  const patch = [{ op: 'add', path: '/spec', value: spec }];
  const patched = await patchObject(client, address, patch, { type: 'json', ...FIELDS, signal });
  if (patched.kind !== 'notFound') return patched;
  const object = { apiVersion: API_VERSION, kind: 'QueueSelectors', metadata: { name: QUEUE_SELECTORS_NAME }, spec };
  return createObject(client, { resource: QUEUE_SELECTORS }, object, { ...FIELDS, signal });
}
