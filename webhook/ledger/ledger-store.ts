import type { LedgerState } from '#shared/domain/quota/ledger.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { getObject, replaceObject } from '#shared/kube/objects.ts';
import type { Outcome } from '#shared/kube/outcome.ts';
import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/wire-names.ts';
import { decodeLedgerObject, encodeLedgerObject, type LedgerObject } from './ledger-object.ts';

export type Read = { readonly kind: 'read'; readonly object: LedgerObject } | { readonly kind: 'gone' } | Trouble;

export type Written =
  | { readonly kind: 'written'; readonly object: LedgerObject }
  /** Somebody else has written since: read again. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' }
  | Trouble;

/** Not known whether a write took effect. */
export interface Trouble {
  readonly kind: 'trouble';
  readonly message: string;
}

/** The ledger object of one quota in the API server. */
export interface LedgerStore {
  read(): Promise<Read>;
  /** Writes another state in place of the one read, if nobody was faster. */
  write(base: LedgerObject, state: LedgerState, kind: 'charge' | 'recount'): Promise<Written>;
}

const CALL_MS = 1_000;

export function createLedgerStore(client: KubeClient, name: string): LedgerStore {
  const address = { resource: PRIORITY_QUOTAS, name };
  return {
    read: async () => {
      const found = understood(await getObject(client, address, { timeoutMs: CALL_MS }));
      return found.kind === 'written' ? { kind: 'read', object: found.object } : asRead(found);
    },
    write: async (base, state, kind) => {
      const next = encodeLedgerObject(base, state, kind === 'recount');
      const options = { timeoutMs: CALL_MS, fieldManager: COMPONENT_NAMES.webhook };
      return understood(await replaceObject(client, { ...address, subresource: 'status' }, next, options));
    },
  };
}

function asRead(found: Exclude<Written, { kind: 'written' }>): Read {
  return found.kind === 'conflict' ? { kind: 'trouble', message: 'unexpected conflict on a read' } : found;
}

function understood(outcome: Outcome<KubeObject>): Written {
  if (outcome.kind === 'conflict') return { kind: 'conflict' };
  if (outcome.kind === 'notFound') return { kind: 'gone' };
  if (outcome.kind !== 'ok') return { kind: 'trouble', message: outcome.message };
  const decoded = decodeLedgerObject(outcome.object);
  if (decoded.ok) return { kind: 'written', object: decoded.value };
  return { kind: 'trouble', message: `${decoded.field}: ${decoded.message}` };
}
