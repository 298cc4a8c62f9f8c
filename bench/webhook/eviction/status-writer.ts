import type { KubeClient } from '#shared/kube/client/client.ts';
import { encodeAccount } from '#shared/api/disruption-account.ts';
import type { Account } from '#shared/domain/disruption/account.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';

const COLLECTION = `/apis/${API_VERSION}/namespaces/default/disruptionaccounts`;
const PATH = `${COLLECTION}/plimsoll`;
/** As many as the account of a measured namespace has in the middle of a block. */
const DEBITS = 15;

export type StatusWriter = () => Promise<void>;

/** Writes the status of an account of the usual size, whose version is known, as one process alone would. */
export function createStatusWriter(client: KubeClient): StatusWriter {
  let stored: object | undefined;
  let writes = 0;
  return async () => {
    stored ??= await created(client);
    const body = { ...stored, status: encodeAccount(account((writes += 1))) };
    const written = await client.request({ method: 'PUT', path: `${PATH}/status`, body });
    if (written.kind !== 'ok') throw new Error(written.message);
    stored = written.object as object;
  };
}

async function created(client: KubeClient): Promise<object> {
  const body = { apiVersion: API_VERSION, kind: 'DisruptionAccount', metadata: { name: 'plimsoll' } };
  const made = await client.request({ method: 'POST', path: COLLECTION, body });
  if (made.kind !== 'ok') throw new Error(made.message);
  return made.object as object;
}

function account(first: number): Account {
  return Array.from({ length: DEBITS }, (_, index) => ({
    uid: `6c484985-95bd-4fd3-9fbc-${first + index}`,
    pod: `pod-${first + index}`,
    at: Date.now(),
    component: 'Others',
    rules: ['limit/web'],
    lapsesAt: Date.now() + 3_600_000,
    cause: undefined,
    caller: 'kubernetes-admin',
    overran: undefined,
  }));
}
