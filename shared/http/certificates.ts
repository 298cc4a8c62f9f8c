import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';

/** A certificate with its private key, PEM. */
export interface CertificatePair {
  readonly certPem: string;
  readonly keyPem: string;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

export interface AuthorityRequest {
  readonly commonName: string;
  readonly days: number;
  readonly now: number;
}

export interface LeafRequest {
  /** The first name (or address) becomes the subject unless `commonName` says otherwise. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly days: number;
  readonly now: number;
  readonly commonName?: string;
}

const DAY_MS = 86_400_000;
/** The clocks of replicas and callers may differ by this much. */
const TOLERATED_SKEW_MS = 300_000;

const ID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

/** A self-signed ECDSA P-256 authority that signs leaves only. */
export function createAuthority({ commonName, days, now }: AuthorityRequest): CertificatePair {
  return signCertificate({ commonName, days, now, issuer: undefined }, (keyId) => [
    extension(ID.basicConstraints, derSequence(derBoolean(true), derInteger(Buffer.of(0))), 'critical'),
    // keyCertSign and cRLSign, the sixth and seventh bit
    extension(ID.keyUsage, derBitString(Buffer.of(0b0000_0110), 1), 'critical'),
    extension(ID.subjectKeyIdentifier, derOctetString(keyId)),
  ]);
}

/** A certificate for a TLS server, signed by the authority. Throws if an address is invalid. */
export function issueServerCertificate(authority: CertificatePair, request: LeafRequest): CertificatePair {
  return issueLeaf(authority, request, ID.serverAuth);
}

/** A certificate with which a caller proves its identity (its common name), signed by the authority. */
export function issueClientCertificate(
  authority: CertificatePair,
  { commonName, days, now }: AuthorityRequest,
): CertificatePair {
  return issueLeaf(authority, { commonName, days, now, dnsNames: [], ipAddresses: [] }, ID.clientAuth);
}

function issueLeaf(authority: CertificatePair, request: LeafRequest, purpose: string): CertificatePair {
  const { dnsNames, ipAddresses, days, now } = request;
  const commonName = request.commonName ?? dnsNames[0] ?? ipAddresses[0] ?? 'plimsoll';
  const names = subjectAltNames(dnsNames, ipAddresses);
  return signCertificate({ commonName, days, now, issuer: authority }, (keyId, issuerKeyId) => [
    extension(ID.basicConstraints, derSequence(), 'critical'),
    // digitalSignature, the first bit
    extension(ID.keyUsage, derBitString(Buffer.of(0b1000_0000), 7), 'critical'),
    extension(ID.extendedKeyUsage, derSequence(derObjectId(purpose))),
    extension(ID.subjectKeyIdentifier, derOctetString(keyId)),
    extension(ID.authorityKeyIdentifier, derSequence(derTagged(0, issuerKeyId, 'primitive'))),
    ...(names.length === 0 ? [] : [extension(ID.subjectAltName, derSequence(...names))]),
  ]);
}

interface Signing {
  readonly commonName: string;
  readonly days: number;
  readonly now: number;
  /** `undefined` signs with the certificate's own key. */
  readonly issuer: CertificatePair | undefined;
}

function signCertificate(
  { commonName, days, now, issuer }: Signing,
  extensions: (keyId: Buffer, issuerKeyId: Buffer) => readonly Buffer[],
): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicInfo = publicKey.export({ type: 'spki', format: 'der' });
  const parent = issuer === undefined ? undefined : new X509Certificate(issuer.certPem);
  const issuerInfo = parent?.publicKey.export({ type: 'spki', format: 'der' }) ?? publicInfo;
  const notAfter = Math.floor((now + days * DAY_MS) / 1_000) * 1_000;
  const body = derSequence(
    derTagged(0, derInteger(Buffer.of(2)), 'constructed'),
    derInteger(serialNumber()),
    signatureAlgorithm(),
    distinguishedName(parent === undefined ? commonName : commonNameOf(parent)),
    derSequence(derTime(now - TOLERATED_SKEW_MS), derTime(notAfter)),
    distinguishedName(commonName),
    publicInfo,
    derTagged(3, derSequence(...extensions(keyIdentifier(publicInfo), keyIdentifier(issuerInfo))), 'constructed'),
  );
  const signature = sign('sha256', body, issuer === undefined ? privateKey : createPrivateKey(issuer.keyPem));
  return {
    certPem: toPem(derSequence(body, signatureAlgorithm(), derBitString(signature))),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    notAfter,
  };
}

/**
 * The validity of a PEM certificate (the first one of a chain), in milliseconds since the epoch. Throws if it is not a
 * certificate.
 */
export function certificateValidity(certPem: string): { readonly notBefore: number; readonly notAfter: number } {
  // Node.js 20, which runs the command line, does not have the dates as Date.
  const { validFrom, validTo } = new X509Certificate(certPem);
  return { notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) };
}

function signatureAlgorithm(): Buffer {
  return derSequence(derObjectId(ID.ecdsaWithSha256));
}

/** Positive and without a leading zero byte, as DER wants it. */
function serialNumber(): Buffer {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

function distinguishedName(commonName: string): Buffer {
  return derSequence(derSet(derSequence(derObjectId(ID.commonName), derUtf8(commonName))));
}

function commonNameOf(certificate: X509Certificate): string {
  return /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? '';
}

function keyIdentifier(publicInfo: Buffer): Buffer {
  return createHash('sha256').update(publicInfo).digest().subarray(0, 20);
}

function subjectAltNames(dnsNames: readonly string[], ipAddresses: readonly string[]): readonly Buffer[] {
  const wrong = ipAddresses.find((address) => isIP(address) === 0);
  if (wrong !== undefined) throw new Error(`cannot issue a certificate: "${wrong}" is not an IP address`);
  return [
    ...dnsNames.map((name) => derTagged(2, Buffer.from(name, 'ascii'), 'primitive')),
    ...ipAddresses.map((address) => derTagged(7, addressBytes(address), 'primitive')),
  ];
}

function extension(id: string, value: Buffer, weight: 'critical' | 'ordinary' = 'ordinary'): Buffer {
  const marker = weight === 'critical' ? [derBoolean(true)] : [];
  return derSequence(derObjectId(id), ...marker, derOctetString(value));
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

/** The 4 or 16 bytes of an IP address that `node:net` accepts (no zone). */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = withoutDottedEnd(address).split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...before, ...zeros, ...after].entries()) bytes.writeUInt16BE(group, index * 2);
  return bytes;
}

/** `::ffff:10.0.0.1` → `::ffff:a00:1`. */
function withoutDottedEnd(address: string): string {
  const dotted = /\d+\.\d+\.\d+\.\d+$/.exec(address)?.[0];
  if (dotted === undefined) return address;
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${address.slice(0, -dotted.length)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function groups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/**
 * Distinguished Encoding Rules (X.690), limited to what a certificate needs: each function returns one encoded element.
 */

const TAG = { boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, objectId: 0x06, utf8: 0x0c } as const;
const CONSTRUCTED = { sequence: 0x30, set: 0x31 } as const;
const GENERALIZED_TIME = 0x18;
const UTC_TIME = 0x17;

function derSequence(...elements: readonly Uint8Array[]): Buffer {
  return element(CONSTRUCTED.sequence, Buffer.concat(elements));
}

function derSet(...elements: readonly Uint8Array[]): Buffer {
  return element(CONSTRUCTED.set, Buffer.concat(elements));
}

/** A non-negative integer from its big-endian bytes. */
function derInteger(bytes: Uint8Array): Buffer {
  const first = bytes[0] ?? 0;
  return element(TAG.integer, first < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]));
}

function derBoolean(value: boolean): Buffer {
  return element(TAG.boolean, Buffer.of(value ? 0xff : 0));
}

function derBitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Buffer.concat([Buffer.of(unusedBits), bytes]));
}

function derOctetString(bytes: Uint8Array): Buffer {
  return element(TAG.octetString, bytes);
}

function derUtf8(text: string): Buffer {
  return element(TAG.utf8, Buffer.from(text, 'utf8'));
}

/** An object identifier from its dotted form. */
function derObjectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.objectId, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** RFC 5280 requires UTCTime until 2049 and GeneralizedTime from 2050 on, both in whole seconds. */
function derTime(ms: number): Buffer {
  const time = new Date(ms);
  const digits = time.toISOString().replace(/[-:T]|\.\d+/g, '');
  const isShort = time.getUTCFullYear() < 2050;
  return element(isShort ? UTC_TIME : GENERALIZED_TIME, Buffer.from(isShort ? digits.slice(2) : digits, 'ascii'));
}

/** An element tagged `[number]`, either around whole elements or instead of the tag of a simple element. */
function derTagged(number: number, content: Uint8Array, form: 'constructed' | 'primitive'): Buffer {
  return element((form === 'constructed' ? 0xa0 : 0x80) | number, content);
}

function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const significant = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.of(0x80 | significant.length), significant]);
}

function base128(value: number): number[] {
  const high = Math.floor(value / 128);
  const low = value % 128;
  return high === 0 ? [low] : [...base128(high).map((byte) => byte | 0x80), low];
}
