import { certificateValidity, type CertificatePair } from '#shared/http/certificates.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf, type KubeObject } from '#shared/kube/kube-object.ts';
import { createObject, getObject, replaceObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { SECRETS } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { Authorities } from './authorities.ts';

/** The stored value and the resourceVersion that a write requires. */
export interface StoredAuthorities {
  readonly authorities: Authorities | undefined;
  readonly version: string | undefined;
}

/** Where replicas keep their CAs. */
export interface AuthorityStore {
  /** Rejects when it cannot be read. */
  read(): Promise<StoredAuthorities>;
  /** False when another replica was faster. Rejects when it cannot be written. */
  write(authorities: Authorities, version: string | undefined): Promise<boolean>;
}

/** For a single replica: lost when the process ends. */
export function memoryAuthorityStore(): AuthorityStore {
  let authorities: Authorities | undefined;
  return {
    read: () => Promise.resolve({ authorities, version: undefined }),
    write: (next) => {
      authorities = next;
      return Promise.resolve(true);
    },
  };
}

/**
 * A Secret that all replicas share. The manifests create it empty, because RBAC cannot limit the right to create by
 * name; if it is missing, it is created if that is allowed.
 */
export function secretAuthorityStore(client: KubeClient, namespace: string, name: string): AuthorityStore {
  const address = { resource: SECRETS, namespace, name };
  return {
    read: async () => {
      const found = await getObject(client, address);
      if (found.kind === 'notFound') return { authorities: undefined, version: undefined };
      const secret = expectOk(found, `read Secret "${namespace}/${name}"`);
      return { authorities: decodeAuthorities(secret), version: secret.metadata.resourceVersion };
    },
    write: async (authorities, version) => {
      const secret = encodeAuthorities(authorities, { namespace, name, version });
      const options = { fieldManager: COMPONENT_NAMES.webhook };
      const outcome =
        version === undefined
          ? await createObject(client, address, secret, options)
          : await replaceObject(client, address, secret, options);
      if (outcome.kind === 'conflict' || outcome.kind === 'alreadyExists') return false;
      expectOk(
        outcome,
        version === undefined
          ? `create Secret "${namespace}/${name}" (or apply it empty)`
          : `write Secret "${namespace}/${name}"`,
      );
      return true;
    },
  };
}

const KEYS = { current: ['ca.crt', 'ca.key'], next: ['next.crt', 'next.key'], previous: 'previous.crt' } as const;

function decodeAuthorities(secret: KubeObject): Authorities | undefined {
  const data = fieldOf(secret, 'data');
  const current = decodePair(data, KEYS.current);
  if (current === undefined) return undefined;
  return { current, next: decodePair(data, KEYS.next), previousPem: decodeText(data, KEYS.previous) };
}

function decodePair(data: unknown, [certKey, keyKey]: readonly [string, string]): CertificatePair | undefined {
  const [certPem, keyPem] = [decodeText(data, certKey), decodeText(data, keyKey)];
  if (certPem === '' || keyPem === '') return undefined;
  return { certPem, keyPem, notAfter: certificateValidity(certPem).notAfter };
}

function decodeText(data: unknown, key: string): string {
  const value = fieldOf(data, key);
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}

function encodeAuthorities(
  { current, next, previousPem }: Authorities,
  {
    namespace,
    name,
    version,
  }: { readonly namespace: string; readonly name: string; readonly version: string | undefined },
): KubeObject {
  const [certKey, keyKey] = KEYS.current;
  const [nextCertKey, nextKeyKey] = KEYS.next;
  const texts = {
    [certKey]: current.certPem,
    [keyKey]: current.keyPem,
    ...(next !== undefined && { [nextCertKey]: next.certPem, [nextKeyKey]: next.keyPem }),
    ...(previousPem !== '' && { [KEYS.previous]: previousPem }),
  };
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name, ...(version !== undefined && { resourceVersion: version }) },
    type: 'Opaque',
    data,
  };
}
