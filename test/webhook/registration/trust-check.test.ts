import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAuthority, issueServerCertificate, type CertificatePair } from '#shared/http/certificates.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { webhookConfigurations, type WebhookTarget } from '#shared/kube/admission/webhook-configurations.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { liveReader } from '#webhook/cluster-state/read-own.ts';
import { createTrustCheck, type TrustCheck } from '#webhook/registration/trust-check.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { ERRORS } from '#webhook/messages.ts';

const now = Date.now();
const authority = createAuthority({ commonName: 'ours', days: 1, now });
const stranger = createAuthority({ commonName: 'a stranger', days: 1, now });
const FOLDER = '/apis/admissionregistration.k8s.io/v1';
const SERVICE: WebhookTarget = { kind: 'service', namespace: 'plimsoll-system', name: 'plimsoll-webhook', port: 443 };

function leaf(dnsName: string, from: CertificatePair = authority) {
  const { certPem, keyPem } = issueServerCertificate(from, {
    dnsNames: [dnsName],
    ipAddresses: ['127.0.0.1'],
    days: 1,
    now,
  });
  return { certPem, keyPem };
}

describe('createTrustCheck', () => {
  let api: ApiDouble;
  let server: Server;
  beforeEach(async () => {
    api = await apiDouble();
    const tls = leaf('plimsoll-webhook.plimsoll-system.svc');
    server = await serve({ handler: (_, response) => response.end(), host: '127.0.0.1', port: 0, tls });
  });
  afterEach(async () => {
    await server.close();
    await api.close();
  });

  function register(caBundlePem: string | undefined, target = SERVICE): void {
    const options = {
      target,
      failurePolicy: 'Ignore',
      gatedCallers: [],
      ...(caBundlePem !== undefined && { caBundlePem }),
    };
    const [mutating, validating] = webhookConfigurations(options as Parameters<typeof webhookConfigurations>[0]);
    api.put(`${FOLDER}/mutatingwebhookconfigurations`, mutating);
    api.put(`${FOLDER}/validatingwebhookconfigurations`, validating);
  }

  function start(isRegistered = true): TrustCheck {
    const client = createClient(directConnection({ server: api.url }), { userAgent: 'test' });
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    return createTrustCheck({
      read: liveReader(client),
      host: '127.0.0.1',
      port: server.port,
      isRegistered,
      clock: systemClock,
      log,
    });
  }

  async function verdict(trust: TrustCheck): Promise<string | undefined> {
    await trust.verify().catch(() => undefined);
    return trust.check.problem();
  }

  test('passes when the registered bundle trusts the served certificate', async () => {
    register(authority.certPem);
    expect(await verdict(start())).toBeUndefined();
  });

  test('passes with an overlapping bundle, and with an address instead of a Service', async () => {
    register(stranger.certPem + authority.certPem, { kind: 'url', url: 'https://127.0.0.1:9443' });
    expect(await verdict(start())).toBeUndefined();
  });

  const wrong: Record<string, { register: () => void; problem: string }> = {
    'another authority': {
      register: () => register(stranger.certPem),
      problem: ERRORS.untrusted('plimsoll-webhook.plimsoll-system.svc', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    },
    'no authority at all': {
      register: () => register(undefined),
      problem: ERRORS.untrusted('plimsoll-webhook.plimsoll-system.svc', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    },
    'another name': {
      register: () => register(authority.certPem, { ...SERVICE, name: 'else' }),
      problem: ERRORS.untrusted('else.plimsoll-system.svc', 'ERR_TLS_CERT_ALTNAME_INVALID'),
    },
    'nothing registered': { register: () => undefined, problem: 'not verified yet' },
  };
  test.each(Object.entries(wrong))('is not ready with %s', async (_, { register, problem }) => {
    register();
    expect(await verdict(start())).toBe(problem);
  });

  test('keeps its result while the API server cannot be read, and changes it with the certificate', async () => {
    register(authority.certPem);
    const trust = start();
    expect(await verdict(trust)).toBeUndefined();
    api.failing = 500;
    expect(await verdict(trust)).toBeUndefined();
    api.failing = undefined;
    server.setCertificate(leaf('plimsoll-webhook.plimsoll-system.svc', stranger));
    expect(await verdict(trust)).toContain('do not trust the served certificate');
  });

  test('requires no registration that an administrator makes, but checks what it finds', async () => {
    const trust = start(false);
    expect(await verdict(trust)).toBeUndefined();
    register(stranger.certPem);
    expect(await verdict(trust)).toContain('do not trust the served certificate');
  });
});
