import type { LedgerWrite } from '#shared/domain/quota/replica/event.ts';
import type { LedgerVersion } from '#shared/domain/quota/replica/apply-batch.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import { encodeLedger, readLedger } from '#shared/api/quota-ledger.ts';
import {
  type Decoded,
  decodeObject,
  readInteger,
  readObject,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

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
