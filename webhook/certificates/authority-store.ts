import { certificateValidity, type CertificatePair } from '#shared/http/certificates.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { createObject, getObject, replaceObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { SECRETS } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';

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
  // Of the version that was read last: the installer of the Secret finds it by its labels and annotations.
  let marks: Marks = {};
  return {
    read: async () => {
      const found = await getObject(client, address);
      if (found.kind === 'notFound') return { authorities: undefined, version: undefined };
      const secret = expectOk(found, `read Secret "${namespace}/${name}"`);
      const { labels, annotations, ownerReferences } = secret.metadata as Marks;
      marks = { labels, annotations, ownerReferences };
      return { authorities: decodeAuthorities(secret), version: secret.metadata.resourceVersion };
    },
    write: async (authorities, version) => {
      const secret = withMarks(encodeAuthorities(authorities, { namespace, name, version }), marks);
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

/** What others wrote on the Secret. */
interface Marks {
  readonly labels?: unknown;
  readonly annotations?: unknown;
  readonly ownerReferences?: unknown;
}

function withMarks(secret: KubeObject, marks: Marks): KubeObject {
  const given = Object.entries(marks).filter(([, value]) => value !== undefined);
  return { ...secret, metadata: { ...secret.metadata, ...Object.fromEntries(given) } };
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

/** The self-signed CAs that replicas share. */
export interface Authorities {
  /** The CA that signs the served certificates. */
  readonly current: CertificatePair;
  /** The CA that will sign them once every client trusts it. */
  readonly next: CertificatePair | undefined;
  /** PEM of the CA that signed them before; clients continue to trust it. */
  readonly previousPem: string;
}

/** The next step of the CA rotation. */
export type AuthorityPlan =
  { readonly kind: 'keep' } | { readonly kind: 'make' } | { readonly kind: 'announce' } | { readonly kind: 'promote' };

export interface AuthorityView {
  readonly now: number;
  /** The CA's lifetime in milliseconds. */
  readonly lifeMs: number;
  /** Since when every webhook configuration has contained `next`; `undefined` while one does not. */
  readonly nextTrustedSince: number | undefined;
  /** How long after that other API servers may still use an older configuration. */
  readonly overlapMs: number;
  /** Whether we register the CAs ourselves; otherwise it is unknown what clients trust. */
  readonly isRegistered: boolean;
}

const RENEWED_AT = 2 / 3;
/** When an administrator registers the bundle: one sixth of the CA's lifetime to do so, and one sixth to spare. */
const PROMOTED_UNSEEN_AT = 5 / 6;

/**
 * Plans the CA rotation. A new CA is announced before it signs anything: none → make → (at two thirds of its
 * lifetime) announce next → (trusted everywhere for the overlap, or at five sixths if trust is unknown) promote it. The
 * old CA stays trusted until the next rotation.
 */
export function planAuthorities(authorities: Authorities | undefined, view: AuthorityView): AuthorityPlan {
  if (authorities === undefined || authorities.current.notAfter <= view.now) return { kind: 'make' };
  if (authorities.next === undefined)
    return { kind: isDue(authorities.current.notAfter, view.lifeMs, view.now) ? 'announce' : 'keep' };
  return { kind: isNextDue(authorities.current, view) ? 'promote' : 'keep' };
}

function isNextDue({ notAfter }: CertificatePair, view: AuthorityView): boolean {
  const { now, lifeMs, nextTrustedSince, overlapMs, isRegistered } = view;
  if (!isRegistered) return now >= notAfter - lifeMs * (1 - PROMOTED_UNSEEN_AT);
  return nextTrustedSince !== undefined && now - nextTrustedSince >= overlapMs;
}

/** Whether two thirds of a certificate's lifetime are over. */
export function isDue(notAfter: number, lifeMs: number, now: number): boolean {
  return now >= notAfter - lifeMs * (1 - RENEWED_AT);
}

/** All CAs that clients must trust. */
export function bundleOf({ current, next, previousPem }: Authorities): string {
  return [current.certPem, next?.certPem ?? '', previousPem].join('');
}

/** The CAs after a promotion. */
export function promoted({ current, next }: Authorities): Authorities | undefined {
  return next && { current: next, next: undefined, previousPem: current.certPem };
}
