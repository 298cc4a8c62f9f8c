import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { createEventRecorder } from '#shared/kube/events/event-recorder.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { ApiDouble } from '#test/fakes/api-double.ts';
import { openAdmissionPort } from '#webhook/admission-port.ts';
import { createCaches, eachCache } from '#webhook/cluster-state/caches.ts';
import { createCertificateRotator } from '#webhook/certificates/certificate-rotator.ts';
import type { CertificateSource } from '#webhook/certificates/certificate-source.ts';
import { webhookSchema } from '#webhook/configuration.ts';
import { createHandlerSources } from '#webhook/wire.ts';
import { Ledgers } from '#webhook/quota/ledgers.ts';
import { liveReader } from '#webhook/cluster-state/read-own.ts';
import { createRegistration } from '#webhook/registration/registration.ts';
import { seededJitter } from '#test/fakes/jitter.ts';

/** A webhook that answers reviews, and looks at its certificate when the test says so. */
export interface SteppedWebhook {
  readonly port: number;
  /** Lines of its log from level warn up. */
  readonly logged: readonly string[];
  /** What the rotator and the registration do every so often. */
  look(): Promise<void>;
  /** What the readiness checks of both say. */
  problem(): string | undefined;
  /** Of the metric `plimsoll_certificate_rotations_total`. */
  rotations(): Promise<number>;
  close(): Promise<void>;
}

const SETTINGS = { host: '127.0.0.1', port: 0, registration: { mode: 'Full', url: 'https://127.0.0.1:0' } };

/** The webhook's own parts, put together as its process does, with the certificates of `certificates`. */
export async function openSteppedWebhook(api: ApiDouble, certificates: CertificateSource): Promise<SteppedWebhook> {
  const stop = new AbortController();
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const log = createLog({ component: 'test', level: 'warn', format: 'json', destination });
  const configuration = webhookSchema.parse(SETTINGS);
  const client = createClient(directConnection({ server: api.url }), { userAgent: 'test' });
  const metrics = createMetrics('webhook');
  const around = { client, clock, random: seededJitter(), log, metrics };
  const caches = createCaches(around);
  const quotas = {
    quotas: caches.priorityQuotas,
    namespaces: caches.namespaces,
    reservationMs: 60_000,
    sliceAfterMs: 60_000,
  };
  const ledgers = new Ledgers({ ...around, ...quotas });
  const events = createEventRecorder({ ...around, component: 'test', instance: 'test' });
  const sources = createHandlerSources(configuration, { ...around, caches, ledgers, events });
  const first = await certificates.load(() => false);
  const server = await openAdmissionPort(configuration, { sources, tls: first.tls, metrics, log });
  const caBundlePem = (): string | undefined => rotator.caBundlePem();
  const registering = { client, read: liveReader(client), configuration, port: server.port, caBundlePem };
  const registration = createRegistration({ ...registering, clock, log });
  const rotator = createCertificateRotator({
    ...around,
    source: certificates,
    isTrusted: (pem) => registration.isTrusted(pem),
    use: ({ tls }) => server.setCertificate(tls),
    first,
  });
  for (const cache of eachCache(caches)) void cache.run(stop.signal);
  await Promise.all(eachCache(caches).map(({ synced }) => synced));
  return {
    port: server.port,
    logged,
    look: async (): Promise<void> => {
      await rotator.refresh();
      await registration.reconcile();
    },
    problem: () => rotator.check.problem() ?? registration.check.problem(),
    rotations: async () => Number(/^plimsoll_certificate_rotations_total (\d+)$/m.exec(await metrics.text())?.[1]),
    close: async (): Promise<void> => {
      stop.abort();
      await ledgers.close();
      await server.close();
      await events.flush();
      client.close();
    },
  };
}
