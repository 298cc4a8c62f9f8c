import { DAY_MS } from '#shared/domain/base/durations.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { secretAuthorityStore, type AuthorityStore } from '#webhook/certificates/authority-store.ts';
import {
  type CertificateSource,
  type ServingCertificate,
  selfSignedCertificates,
} from '#webhook/certificates/certificate-source.ts';

/** A source whose every load is that of a replica which has just started. */
export interface RestartedReplicas extends CertificateSource {
  /** PEM of every certificate that was served. */
  readonly leaves: ReadonlySet<string>;
  /** PEM of every authority that signed one. */
  readonly authorities: ReadonlySet<string>;
}

export interface RotationPace {
  /** After so many certificates another replica announces the next authority. */
  readonly leavesPerAuthority: number;
  readonly overlapSeconds: number;
}

/** A replica that lasts, and so learns what is trusted, and after each of its looks a fresh one with a leaf of its own. */
export function restartedReplicas(
  client: KubeClient,
  { leavesPerAuthority, overlapSeconds }: RotationPace,
): RestartedReplicas {
  const store = secretAuthorityStore(client, 'plimsoll-system', 'plimsoll-webhook-tls');
  const replica = (of: AuthorityStore): CertificateSource =>
    selfSignedCertificates({
      store: of,
      clock,
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1'],
      isRegistered: true,
      authorityDays: 365,
      leafDays: 7,
      overlapSeconds,
    });
  const lasting = replica(store);
  const leaves = new Set<string>();
  const authorities = new Set<string>();
  return {
    leaves,
    authorities,
    load: async (isTrusted: (pem: string) => boolean): Promise<ServingCertificate> => {
      if (leaves.size % leavesPerAuthority === 0) await replica(aged(store)).load(() => false);
      await lasting.load(isTrusted);
      const served = await replica(store).load(isTrusted);
      leaves.add(served.tls.certPem);
      authorities.add((await store.read()).authorities?.current.certPem ?? '');
      return served;
    },
  };
}

/** The same store, but what it gives ends tomorrow: a load through it announces the next CA. */
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
