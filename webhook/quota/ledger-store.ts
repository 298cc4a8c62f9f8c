import type { Found, LedgerPart, LedgerWrite, Read, Trouble, Written } from '#shared/domain/quota/replica/event.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { getObject, replaceObject } from '#shared/kube/client/objects.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import { atRevision, decodeLedgerObject, withLedger, type LedgerObject } from './ledger-object.ts';
import { prunedParts } from './pruned-parts.ts';

/** The ledger object of one quota in the API server. */
export interface LedgerStore {
  read(): Promise<Read>;
  /** Writes a new state, unless another client has written since the read. */
  write(write: LedgerWrite): Promise<Written>;
}

const CALL_MS = 1_000;

/** `lost` is called with the parts that the API server does not store. */
export function createLedgerStore(
  client: KubeClient,
  name: string,
  lost: (parts: readonly LedgerPart[]) => void,
): LedgerStore {
  const address = { resource: PRIORITY_QUOTAS, name };
  return {
    read: async () => {
      const outcome = await getObject(client, address, { timeoutMs: CALL_MS });
      return outcome.kind === 'ok' ? decoded(outcome.object) : failed(outcome);
    },
    write: async (write) => {
      const next = withLedger(write);
      const options = { timeoutMs: CALL_MS, fieldManager: COMPONENT_NAMES.webhook };
      const outcome = await replaceObject(client, { ...address, subresource: 'status' }, next.raw, options);
      if (outcome.kind === 'conflict') return { kind: 'conflict' };
      if (outcome.kind === 'invalid') return { kind: 'refused', message: outcome.message };
      if (outcome.kind !== 'ok') return failed(outcome);
      const written = writtenAs(next, outcome.object);
      if (written.kind === 'pruned') lost(written.lost);
      return written;
    },
  };
}

/**
 * The result of a write, from its answer. No other client has written since the base, so only pruned parts can differ.
 */
export function writtenAs(next: LedgerObject, stored: KubeObject): Written {
  const { resourceVersion } = stored.metadata;
  if (resourceVersion === undefined) return { kind: 'trouble', message: 'the answer names no resourceVersion' };
  const lost = prunedParts(next.raw, stored);
  if (lost.length === 0) return { kind: 'written', version: atRevision(next, resourceVersion) };
  const read = decoded(stored);
  return read.kind === 'read' ? { kind: 'pruned', version: read.version, lost } : read;
}

function decoded(raw: KubeObject): Found | Trouble {
  const object = decodeLedgerObject(raw);
  return object.ok
    ? { kind: 'read', version: object.value }
    : { kind: 'trouble', message: `${object.field}: ${object.message}` };
}

function failed({ kind, message }: Failure): { readonly kind: 'gone' } | Trouble {
  return kind === 'notFound' ? { kind: 'gone' } : { kind: 'trouble', message };
}
