import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** What a follower of a file needs. */
export interface FileFollower {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log?: Pick<Log, 'error'> | undefined;
}

/** How old what was read may be. The kubelet brings a changed file to its mount about once a minute. */
export const FOLLOW_PERIOD_MS = 5_000;

/** Reads a file of CAs. Throws where it holds no certificate: TLS would treat it as a CA that has signed nothing. */
export function readCertificates(file: string): string {
  const pem = readPem(file);
  try {
    new X509Certificate(pem);
  } catch (error) {
    throw new Error(`cannot use CA file "${file}": it contains no certificate`, { cause: error });
  }
  return pem;
}

/**
 * What `readCertificates` finds in the file, read again by a call that comes five seconds after the last reading. A file
 * that cannot be used is logged, and the previous CAs stay in use. The first are read at once, which throws where there
 * are none, unless the caller has read them.
 */
export function followCertificates(
  file: string,
  { clock, log }: FileFollower,
  first = readCertificates(file),
): () => string {
  let pem = first;
  let readAt = clock.monotonic();
  return () => {
    if (clock.monotonic() - readAt < FOLLOW_PERIOD_MS) return pem;
    readAt = clock.monotonic();
    try {
      pem = readCertificates(file);
    } catch (error) {
      log?.error({ err: error }, 'CA not replaced');
    }
    return pem;
  };
}

/** Reads a file in PEM. Throws an error that names it. */
export function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read certificate file "${file}"`, { cause: error });
  }
}
