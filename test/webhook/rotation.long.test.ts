import { expect, test } from 'vitest';
import { request as httpsRequest } from 'node:https';
import { systemClock } from '#shared/runtime/clock.ts';
import { serve } from '#shared/http/serve.ts';
import { memoryAuthorityStore, type AuthorityStore } from '#webhook/certificates/authority-store.ts';
import { selfSignedCertificates } from '#webhook/certificates/self-signed-certificates.ts';

const LEAVES = 1_000;
const AUTHORITIES = 20;
const REQUESTS_PER_SECOND = 50;

/** The authority is taken for one that ends tomorrow: announced at the next look, promoted at the one after. */
async function makeOld(store: AuthorityStore): Promise<void> {
  const { authorities, version } = await store.read();
  if (authorities === undefined) throw new Error('there is no authority');
  const current = { ...authorities.current, notAfter: Date.now() + 86_400_000 };
  await store.write({ ...authorities, current }, version);
}

/** One request on a fresh connection, trusting what was registered at that moment. */
function call(port: number, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ port, host: '127.0.0.1', ca, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject).end();
  });
}

test(`${LEAVES} leaves and ${AUTHORITIES} authorities under ${REQUESTS_PER_SECOND} requests/s: no handshake fails`, async () => {
  // Each source is a replica that starts anew and so issues its own leaf of the shared authority.
  const store = memoryAuthorityStore();
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  const days = { authorityDays: 365, leafDays: 7, overlapSeconds: 0, isRegistered: true };
  const source = () => selfSignedCertificates({ store, clock: systemClock, ...names, ...days });
  let served = await source().look(() => false);
  let registered = served.caBundlePem ?? '';
  const server = await serve({ handler: (_, response) => response.end(), host: '127.0.0.1', port: 0, tls: served.tls });
  const bundles = new Set<string>([registered]);
  const done = new AbortController();
  const answers: Promise<number>[] = [];
  const load = (async () => {
    while (!done.signal.aborted) {
      answers.push(call(server.port, registered));
      await systemClock.sleep(1_000 / REQUESTS_PER_SECOND);
    }
  })();
  for (let leaf = 0; leaf < LEAVES; leaf += 1) {
    if (leaf % (LEAVES / AUTHORITIES) === 0) await makeOld(store);
    served = await source().look((pem) => pem === registered);
    registered = served.caBundlePem ?? '';
    bundles.add(registered);
    await systemClock.sleep(5);
    server.setCertificate(served.tls);
    await systemClock.sleep(15);
  }
  done.abort();
  await load;
  const statuses = await Promise.all(answers);
  await server.close();
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(statuses.length).toBeGreaterThan(500);
  expect(bundles.size).toBeGreaterThan(AUTHORITIES);
});
