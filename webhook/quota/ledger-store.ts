import { isDeepStrictEqual } from 'node:util';
import type {
  Found,
  LedgerPart,
  LedgerWrite,
  Read,
  Trouble,
  LedgerWritten,
} from '#shared/domain/quota/replica/event.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  fieldOf,
  type Decoded,
  decodeObject,
  readInteger,
  readObject,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { getObject, replaceObject } from '#shared/kube/client/objects.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { LedgerVersion } from '#shared/domain/quota/replica/apply-batch.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import { decodePriorityQuota, encodeLedger, readLedger } from '#shared/api/priority-quota.ts';

/** The ledger object of one quota in the API server. */
export interface LedgerStore {
  read(): Promise<Read>;
  /** Writes a new state, unless another client has written since the read. */
  write(write: LedgerWrite): Promise<LedgerWritten>;
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
export function writtenAs(next: LedgerObject, stored: KubeObject): LedgerWritten {
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

/**
 * The version of the ledger format. Raise it with every change that an earlier version of the webhook would misread: an
 * earlier version then leaves the ledger alone and refuses the pods of this quota.
 */
const LEDGER_VERSION = 1;

/** A version of a ledger with the object it was read from. */
export interface LedgerObject extends LedgerVersion {
  readonly raw: KubeObject;
}

/** Reads a raw PriorityQuota. */
export function decodeLedgerObject(raw: KubeObject): Decoded<LedgerObject> {
  const quota = decodePriorityQuota(raw);
  if (!quota.ok) return quota;
  const { uid = '', generation = 0, resourceVersion = '' } = raw.metadata;
  return decodeObject(raw, (object) => {
    const status = readObject(object, 'status', (inner) => inner) ?? {};
    assertVersion(status);
    const recounts = readInteger(status, 'recounts') ?? 0;
    return {
      raw,
      uid,
      generation,
      revision: resourceVersion,
      quota: quota.value,
      state: readLedger(status),
      isCounted: readInteger(status, 'observedGeneration') === generation,
      recounts,
      counted: readObject(status, 'counted', (counted) => readCounted(counted, recounts)),
    };
  });
}

/**
 * The object with another ledger. The API server takes only the status of its raw form, and only at this revision;
 * afterwards the object is what is stored, apart from the new revision.
 */
export function withLedger({ base, state, counted }: LedgerWrite): LedgerObject {
  // Every base version was decoded in this file.
  const { raw } = base as LedgerObject;
  const isRecount = counted !== undefined;
  const recounts = base.recounts + (isRecount ? 1 : 0);
  const status = {
    ...(raw['status'] ?? {}),
    ...encodeLedger(state),
    ledgerVersion: LEDGER_VERSION,
    recounts,
    ...(isRecount && { observedGeneration: base.generation, counted: { recount: recounts, ...counted } }),
  };
  const isCounted = base.isCounted || isRecount;
  return { ...base, raw: { ...raw, status }, state, isCounted, recounts, counted: counted ?? base.counted };
}

/** The object under the revision at which it was stored. */
export function atRevision(object: LedgerObject, resourceVersion: string): LedgerObject {
  const { raw } = object;
  return { ...object, raw: { ...raw, metadata: { ...raw.metadata, resourceVersion } }, revision: resourceVersion };
}

function assertVersion(status: WireObject): void {
  const version = readInteger(status, 'ledgerVersion') ?? LEDGER_VERSION;
  if (version <= LEDGER_VERSION) return;
  refuseField(
    'status.ledgerVersion',
    `a later version of the webhook keeps this ledger as version ${version}, this one knows ${LEDGER_VERSION}`,
  );
}

/** A replica of an older version does not record the revisions that it counted. */
function readCounted(counted: WireObject, recounts: number): ViewRevision | undefined {
  if (readInteger(counted, 'recount') !== recounts) return undefined;
  const [pods, namespaces] = [readInteger(counted, 'pods'), readInteger(counted, 'namespaces')];
  return pods === undefined || namespaces === undefined ? undefined : { pods, namespaces };
}

const PARTS: readonly LedgerPart[] = ['observedGeneration', 'recounts', 'used', 'slices', 'reservations'];

/**
 * The parts of a ledger that were not stored as sent. An API server silently prunes fields that its
 * CustomResourceDefinition does not have, for example when an upgrade brought new replicas but not the new CRD.
 */
function prunedParts(sent: KubeObject, stored: KubeObject): readonly LedgerPart[] {
  return PARTS.filter((part) => !isDeepStrictEqual(essence(sent, part), essence(stored, part)));
}

/** For reservations, comparing the UIDs is enough: the CRD stores a reservation completely or not at all. */
function essence(object: KubeObject, part: LedgerPart): unknown {
  const value = fieldOf(object['status'], part);
  if (Array.isArray(value) && value.length === 0) return undefined;
  if (part !== 'reservations' || !Array.isArray(value)) return value;
  return value.map((each) => fieldOf(each, 'uid'));
}
