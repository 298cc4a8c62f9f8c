import { certificateValidity } from '#shared/http/certificates.ts';
import type { HealthCheck } from '#shared/http/health.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { ERRORS, LOG } from '#webhook/messages.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';

export interface RotatorOptions {
  readonly source: CertificateSource;
  readonly isTrusted: (caBundlePem: string) => boolean;
  /** Serves with another certificate from now on. */
  readonly use: (certificate: ServingCertificate) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The certificate that is served at the start. */
  readonly first: ServingCertificate;
}

/** Keeps the served certificate valid. */
export interface CertificateRotator {
  run(signal: AbortSignal): Promise<void>;
  /** Refreshes once, as `run` does periodically. */
  refresh(): Promise<void>;
  caBundlePem(): string | undefined;
  readonly check: HealthCheck;
}

/** Short enough that a process which was paused does not keep serving an expired certificate. */
const REFRESH_EVERY_MS = 20_000;
const REFRESH_DEADLINE_MS = 15_000;
const BACKOFF = { initialMs: 500, maxMs: 20_000, factor: 2, jitter: 0.5 };

export function createCertificateRotator(options: RotatorOptions): CertificateRotator {
  const { source, clock, log, metrics } = options;
  let served = options.first;
  let problem: string | undefined;
  const rotations = metrics.counter(
    'plimsoll_certificate_rotations_total',
    'Number of times the served certificate was replaced',
  );
  const notAfter = metrics.gauge('plimsoll_certificate_not_after_timestamp_seconds', 'Expiry time of the certificate', [
    'purpose',
  ]);
  exportEnds(served);

  async function refresh(): Promise<void> {
    const next = await source.load(options.isTrusted);
    problem = undefined;
    if (!isSame(next, served)) options.use(next);
    if (next.tls.certPem !== served.tls.certPem) {
      rotations.add();
      log.info({ notAfter: new Date(next.notAfter).toISOString() }, LOG.certificateReplaced);
    }
    if (next.tls.clientCaPem !== served.tls.clientCaPem) log.info(LOG.clientAuthorityReplaced);
    served = next;
    exportEnds(served);
  }

  function exportEnds({ notAfter: servingEnds, caBundlePem, tls }: ServingCertificate): void {
    notAfter.set(servingEnds / 1_000, { purpose: 'serving' });
    const authorities = { ca: caBundlePem, 'client-ca': tls.clientCaPem };
    for (const [purpose, pem] of Object.entries(authorities)) {
      if (pem !== undefined) notAfter.set(certificateValidity(pem).notAfter / 1_000, { purpose });
    }
  }

  const rounds = reportRounds(log, LOG.certificateRefreshFailed);
  function onError(error: unknown): void {
    problem = errorText(error);
    rounds.onError(error);
  }

  return {
    run: (signal) =>
      repeat(
        {
          task: refresh,
          periodMs: REFRESH_EVERY_MS,
          deadlineMs: REFRESH_DEADLINE_MS,
          backoff: BACKOFF,
          ...rounds,
          onError,
          clock,
        },
        signal,
      ),
    refresh,
    caBundlePem: () => served.caBundlePem,
    check: { name: 'certificate', problem: () => validityProblem(served, clock.now(), problem) },
  };
}

function isSame({ tls: a }: ServingCertificate, { tls: b }: ServingCertificate): boolean {
  return a.certPem === b.certPem && a.clientCaPem === b.clientCaPem;
}

function validityProblem(
  { notBefore, notAfter }: ServingCertificate,
  now: number,
  trouble: string | undefined,
): string | undefined {
  if (now < notBefore) return ERRORS.notYetValid(new Date(notBefore).toISOString());
  if (now < notAfter) return undefined;
  return ERRORS.expired(new Date(notAfter).toISOString(), trouble);
}
