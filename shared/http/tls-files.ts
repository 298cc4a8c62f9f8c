import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { FOLLOW_PERIOD_MS, readCertificates, readPem } from '#shared/runtime/certificate-file.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import type { Server, TlsOptions } from './serve.ts';

/** PEM files; without a certificate the server speaks plain HTTP. */
export interface TlsFiles {
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** CAs; one of them must have signed a client's certificate. */
  readonly clientCaFile?: string | undefined;
}

/** What a server needs to follow its certificate files. */
export interface TlsFollower {
  readonly clock: Clock;
  readonly log: Log;
  readonly server: Pick<Server, 'setCertificate'>;
  readonly files: TlsFiles;
  /** The contents that the server started with. */
  readonly first: TlsOptions;
}

/** Reads the files. Throws an error that names the file and says what to correct. */
export function readTlsFiles({ certFile, keyFile, clientCaFile }: TlsFiles): TlsOptions | undefined {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const pair = readKeyPair(certFile, keyFile);
  return { ...pair, ...(clientCaFile !== undefined && { clientCaPem: readCertificates(clientCaFile) }) };
}

/** Reads a certificate and its key. Throws if they do not match, which happens while files are replaced one by one. */
export function readKeyPair(certFile: string, keyFile: string): TlsOptions {
  const [certPem, keyPem] = [readPem(certFile), readPem(keyFile)];
  try {
    createSecureContext({ cert: certPem, key: keyPem });
  } catch (error) {
    throw new Error(`cannot use certificate "${certFile}" with its key`, { cause: error });
  }
  return { certPem, keyPem };
}

/**
 * Reads the files every five seconds and passes changes to the server, so that a renewed certificate needs no restart.
 * Invalid files are logged, and the server keeps the previous ones. Ends with the signal.
 */
export async function followTlsFiles(
  { server, files, first, clock, log }: TlsFollower,
  signal: AbortSignal,
): Promise<void> {
  let inUse = first;
  const task = (): Promise<void> => {
    const found = readTlsFiles(files);
    if (found !== undefined && !isSame(found, inUse)) {
      server.setCertificate(found);
      inUse = found;
      log.info({ notAfter: new X509Certificate(found.certPem).validTo }, 'Certificate replaced');
    }
    return Promise.resolve();
  };
  const rounds = reportRounds(log, 'Certificate not replaced');
  await repeat({ task, periodMs: FOLLOW_PERIOD_MS, deadlineMs: FOLLOW_PERIOD_MS, ...rounds, clock }, signal);
}

function isSame(a: TlsOptions, b: TlsOptions): boolean {
  return a.certPem === b.certPem && a.keyPem === b.keyPem && a.clientCaPem === b.clientCaPem;
}
