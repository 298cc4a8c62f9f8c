import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** What is needed to follow a file. */
export interface FileFollower {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log?: Pick<Log, 'error'> | undefined;
}

/** Maximum age of the content. The kubelet updates a mounted file about once a minute. */
export const FOLLOW_PERIOD_MS = 5_000;

/** Reads a file of CAs. Throws if it contains no certificate: TLS would treat it as a CA that has signed nothing. */
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
 * The result of `readCertificates` on the file, read again if the last reading is five seconds old. If the file is
 * invalid, the error is logged and the previous CAs stay in use. Unless the caller passes the first content, it is read
 * at once, and an error throws.
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

/** Reads a PEM file. Throws an error that names the file. */
export function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read certificate file "${file}"`, { cause: error });
  }
}
