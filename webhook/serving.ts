import { createAvoidLists, createAvoidLookup } from './cluster-state/avoided-nodes.ts';
import { openAdmissionPort } from './admission-port.ts';
import { createCertificateRotator } from './certificates/certificate-rotator.ts';
import { createCertificateSource } from './certificates/create-certificate-source.ts';
import { createHandlerSources } from './handler-sources.ts';
import { createRegistration } from './registration/registration.ts';
import { createTrustCheck } from './registration/trust-check.ts';
import type { WebhookParts } from './wire.ts';

/** Opens the admission port with its certificate; the API server calls it once the registration runs. */
export async function openServing(parts: WebhookParts) {
  const { configuration, client, clock, shutdown } = parts;
  const certificates = createCertificateSource(configuration, { client, clock });
  const first = await certificates.load(() => false);
  const isAvoiding = configuration.avoidNodes === 'On';
  const avoidLists = createAvoidLists(parts);
  const avoidedBy = isAvoiding ? createAvoidLookup(avoidLists, clock) : undefined;
  const sources = createHandlerSources(configuration, { ...parts, avoidedBy });
  const server = await openAdmissionPort(configuration, { ...parts, sources, tls: first.tls });
  shutdown.onRelease('admission port', () => server.close());
  const rotator = createCertificateRotator({
    ...parts,
    source: certificates,
    isTrusted: (caBundlePem) => registration.isTrusted(caBundlePem),
    use: ({ tls }) => server.setCertificate(tls),
    first,
  });
  const registration = createRegistration({
    ...parts,
    caBundlePem: () => rotator.caBundlePem(),
    port: server.port,
  });
  const trust = createTrustCheck({
    ...parts,
    host: ownAddress(configuration.host),
    port: server.port,
    isRegistered: configuration.registration.mode !== 'None',
  });
  const hasAvoidLists = (): boolean => isAvoiding && [...avoidLists.values()].some(({ isKept }) => isKept);
  return { server, rotator, registration, trust, hasAvoidLists, followed: isAvoiding ? [avoidLists] : [] };
}

/** The address to reach this process: not every platform can connect to a wildcard address. */
function ownAddress(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
