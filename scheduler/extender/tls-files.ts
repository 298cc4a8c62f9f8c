import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Server, TlsOptions } from '#shared/http/serve.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { repeat } from '#shared/runtime/repeat.ts';

/** Files in PEM; without a certificate the extender speaks plain HTTP. */
export interface TlsFiles {
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly clientCaFile?: string | undefined;
}

/** What a server needs to follow its certificate files. */
export interface TlsFollower {
  readonly server: Pick<Server, 'setCertificate'>;
  readonly files: TlsFiles;
  /** What the server began with. */
  readonly first: TlsOptions;
  readonly clock: Clock;
  readonly log: Log;
}

/** The kubelet brings a changed Secret to its mount about once a minute. */
const PERIOD_MS = 5_000;

/** Reads the files, and checks that certificate and key belong together. Throws an error that names what to correct. */
export function readTlsFiles({ certFile, keyFile, clientCaFile }: TlsFiles): TlsOptions | undefined {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const certPem = readPem(certFile);
  const keyPem = readPem(keyFile);
  const clientCaPem = clientCaFile === undefined ? undefined : readPem(clientCaFile);
  assertUsable({ certPem, keyPem, ...(clientCaPem !== undefined && { clientCaPem }) }, certFile);
  return { certPem, keyPem, ...(clientCaPem !== undefined && { clientCaPem }) };
}

/**
 * Reads the files again every five seconds and gives changed ones to the server, so that a renewed certificate needs no
 * restart. Files that cannot be used are logged, and the server keeps the previous ones. Ends with the signal.
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
  const onError = (error: unknown): void => log.error({ err: error }, 'Certificate not replaced');
  await repeat({ task, periodMs: PERIOD_MS, deadlineMs: PERIOD_MS, onError, clock }, signal);
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read certificate file "${file}"`, { cause: error });
  }
}

/** While files are replaced one by one, the certificate and the key may belong to different pairs. */
function assertUsable({ certPem, keyPem, clientCaPem }: TlsOptions, certFile: string): void {
  try {
    createSecureContext({ cert: certPem, key: keyPem, ...(clientCaPem !== undefined && { ca: clientCaPem }) });
  } catch (error) {
    throw new Error(`cannot use certificate "${certFile}" with its key`, { cause: error });
  }
}

function isSame(a: TlsOptions, b: TlsOptions): boolean {
  return a.certPem === b.certPem && a.keyPem === b.keyPem && a.clientCaPem === b.clientCaPem;
}
