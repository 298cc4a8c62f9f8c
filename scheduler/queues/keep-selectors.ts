import { decodeLargestNode, encodeQueueSelectors } from '#shared/api/queue-selectors.ts';
import { API_VERSION, COMPONENT_NAMES, QUEUE_SELECTORS_NAME } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { FormerBelief } from '#shared/decide/queues/believed-nodes.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { createObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { QUEUE_SELECTORS } from '#shared/kube/resource.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import type { StatusPorts } from './status-writer.ts';

const FIELDS = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;
/** What another client wrote there is corrected after this time. */
const VALID_MS = 300_000;

interface SelectorPorts extends Omit<StatusPorts, 'metrics' | 'reclaim'> {
  /** The most of each type that is believed of one node. */
  readonly largestNode: () => QueueAmounts;
}

/**
 * Returns a function to call once a second: it tells the API server which namespaces the queues take, and the next
 * leader how far nodes are believed. Never rejects.
 */
export function createSelectorKeeper(ports: SelectorPorts): (signal: AbortSignal) => Promise<void> {
  const faults = faultLog(ports.log, 'Selectors of queues not written');
  let written = { text: '', untilMs: -Infinity };
  return async (signal) => {
    const spec = encodeQueueSelectors(
      Array.from(ports.queues(), ({ object }) => object),
      ports.largestNode(),
    );
    const text = JSON.stringify(spec);
    if (!ports.term.isHeld() || (text === written.text && ports.clock.monotonic() < written.untilMs)) return;
    const outcome = await write(ports.client, spec, signal);
    if (outcome.kind === 'ok') written = { text, untilMs: ports.clock.monotonic() + VALID_MS };
    if (!signal.aborted) faults.answered(QUEUE_SELECTORS_NAME, outcome);
  };
}

/**
 * What the leader before this one believed of nodes; `undefined` if there was none, or it wrote nothing. Rejects if that
 * is not known.
 */
export async function readFormerBelief(
  { client, term }: { readonly client: KubeClient; readonly term: Pick<LeaseTerm, 'formerUntil'> },
  signal: AbortSignal,
): Promise<FormerBelief | undefined> {
  const address = { resource: QUEUE_SELECTORS, name: QUEUE_SELECTORS_NAME };
  const found = await getObject(client, address, { timeoutMs: FIELDS.timeoutMs, signal });
  // Without the right to read it, as right after an upgrade, nodes are believed as by the first leader.
  if (found.kind === 'notFound' || found.kind === 'forbidden') return undefined;
  const largest = decodeLargestNode(expectOk(found, 'read what was believed of nodes'));
  return largest && { largest, until: term.formerUntil };
}

async function write(client: KubeClient, spec: object, signal: AbortSignal) {
  const address = { resource: QUEUE_SELECTORS, name: QUEUE_SELECTORS_NAME };
  const patch = [{ op: 'add', path: '/spec', value: spec }];
  const patched = await patchObject(client, address, patch, { type: 'json', ...FIELDS, signal });
  if (patched.kind !== 'notFound') return patched;
  const object = { apiVersion: API_VERSION, kind: 'QueueSelectors', metadata: { name: QUEUE_SELECTORS_NAME }, spec };
  return createObject(client, { resource: QUEUE_SELECTORS }, object, { ...FIELDS, signal });
}
