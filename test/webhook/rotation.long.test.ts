import { request as httpsRequest } from 'node:https';
import { expect, test } from 'vitest';
import { because } from '#shared/domain/admission/admission-code.ts';
import { allow } from '#shared/domain/admission/decision.ts';
import { serve } from '#shared/http/serve.ts';
import { createClient } from '#shared/kube/client.ts';
import { directConnection } from '#shared/kube/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { objectServer, type ObjectServer } from '#test/fakes/object-server.ts';
import { secretAuthorityStore, type AuthorityStore } from '#webhook/certificates/authority-store.ts';
import { selfSignedCertificates } from '#webhook/certificates/self-signed-certificates.ts';
import { webhookSchema } from '#webhook/configuration.ts';
import { createRegistration } from '#webhook/registration.ts';
import { createBodyTurns } from '#webhook/body-turns.ts';
import { reviewListener } from '#webhook/review-listener.ts';
import { createReviewMetrics } from '#webhook/review-metrics.ts';
import { judgeTooLarge } from '#webhook/too-large.ts';
import { createPodReview, pod, readAnswer } from './reviews.ts';

const LEAVES = 1_000;
const AUTHORITIES = 20;
const REQUESTS_PER_SECOND = 50;
const OVERLAP_SECONDS = 2;
/** An API server may act on what it read this long ago; well below the overlap, for this machine may be busy. */
const CALLERS_LAG_MS = 500;
const LEAF_EVERY_MS = 50;
/** A machine too busy for the rate gets fewer, instead of a heap of them. */
const MOST_OPEN = 25;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

function admissionHandler() {
  const metrics = createReviewMetrics(createMetrics('webhook'), log);
  const judges = new Map([['/validate', () => allow(because('PriorityAccepted', 'fine'))]]);
  const collect = createBodyTurns({ maxBytes: 1_000_000, patienceMs: 60_000 });
  const limits = { collect, concurrentRequests: 512, deadlineMs: 60_000 };
  return reviewListener({
    judges,
    judgeTooLarge: judgeTooLarge('Enforce'),
    fallback: (_, response) => response.writeHead(404).end(),
    ...limits,
    metrics,
    log,
  });
}

/** The same store, but what it gives ends tomorrow: whoever looks through it announces the next authority. */
function aged(store: AuthorityStore): AuthorityStore {
  return {
    read: async () => {
      const { authorities, version } = await store.read();
      const notAfter = Date.now() + DAY_MS;
      return { authorities: authorities && { ...authorities, current: { ...authorities.current, notAfter } }, version };
    },
    write: (authorities, version) => store.write(authorities, version),
  };
}

/** Every bundle that was registered, so that a caller can act on one that it read a while ago. */
function bundleHistory(api: ObjectServer) {
  const bundles: { readonly pem: string; readonly since: number }[] = [];
  return {
    look: (): void => {
      const object = api.get('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', 'plimsoll');
      const [entry] = object?.['webhooks'] as { clientConfig: { caBundle: string } }[];
      const pem = Buffer.from(entry?.clientConfig.caBundle ?? '', 'base64').toString();
      if (bundles.at(-1)?.pem !== pem) bundles.push({ pem, since: performance.now() });
    },
    asOf: (time: number) => bundles.findLast(({ since }) => since <= time)?.pem ?? bundles[0]?.pem ?? '',
    bundles,
  };
}

/** One admission on a fresh connection: the code of its answer, or what kept it from one. */
function admit(port: number, ca: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const options = { port, host: '127.0.0.1', path: '/validate', method: 'POST', headers, ca, agent: false };
  return new Promise((resolve) => {
    const request = httpsRequest(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      response.on('end', () => resolve(readAnswer(body).allowed ? 'allowed' : `${response.statusCode ?? 0} ${body}`));
    });
    request.on('error', (error) => resolve(String(error))).end(createPodReview(pod()));
  });
}

test(
  `${LEAVES} leaves and ${AUTHORITIES} authorities under ${REQUESTS_PER_SECOND} requests/s: no admission fails`,
  async () => {
    const api = await objectServer();
    const client = createClient(directConnection({ server: api.url }), { userAgent: 'test' });
    const store = secretAuthorityStore(client, 'plimsoll-system', 'plimsoll-webhook-tls');
    const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], isRegistered: true };
    const days = { authorityDays: 365, leafDays: 7, overlapSeconds: OVERLAP_SECONDS };
    const replica = (of = store) => selfSignedCertificates({ store: of, clock: systemClock, ...names, ...days });
    const lasting = replica();
    let served = await lasting.look(() => false);
    const server = await serve({ handler: admissionHandler(), host: '127.0.0.1', port: 0, tls: served.tls });
    const registration = createRegistration({
      client,
      configuration: webhookSchema.parse({ registration: { mode: 'Full', url: 'https://127.0.0.1:0' } }),
      port: server.port,
      caBundlePem: () => served.caBundlePem,
      clock: systemClock,
      log,
    });
    await registration.look();
    const history = bundleHistory(api);
    history.look();

    const answers: Promise<string>[] = [];
    let open = 0;
    const done = new AbortController();
    const load = (async () => {
      while (!done.signal.aborted) {
        await systemClock.sleep(1_000 / REQUESTS_PER_SECOND);
        if (open >= MOST_OPEN) continue;
        open += 1;
        answers.push(
          admit(server.port, history.asOf(performance.now() - CALLERS_LAG_MS)).finally(() => void (open -= 1)),
        );
      }
    })();
    const leaves = new Set<string>();
    const authorities = new Set<string>();
    while (leaves.size < LEAVES || authorities.size <= AUTHORITIES) {
      if (leaves.size % (LEAVES / AUTHORITIES) === 0) await replica(aged(store)).look(() => false);
      await lasting.look((pem) => registration.isTrusted(pem));
      // A replica that starts anew issues a leaf of its own.
      served = await replica().look((pem) => registration.isTrusted(pem));
      server.setCertificate(served.tls);
      await registration.look();
      history.look();
      leaves.add(served.tls.certPem);
      authorities.add((await store.read()).authorities?.current.certPem ?? '');
      await systemClock.sleep(LEAF_EVERY_MS);
    }
    done.abort();
    await load;
    const failed = (await Promise.all(answers)).filter((answer) => answer !== 'allowed');
    await server.close();
    client.close();
    await api.close();
    expect(failed).toEqual([]);
    // Each authority changes the bundle when it is announced; a promotion takes nothing out of it.
    expect(history.bundles.length).toBeGreaterThan(AUTHORITIES);
    expect(answers.length).toBeGreaterThan(LEAVES);
  },
  HOUR_MS,
);
