import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const SUMS = 'SHA256SUMS';
/** Base64, as `cosign sign-blob` writes it. */
const SIGNATURE = `${SUMS}.sig`;
export const STATEMENT = 'provenance.json';
const ENVELOPE = 'provenance.dsse.json';
const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly sig: string }[];
}

/** The lines of SHA256SUMS: every file of the folder but the list itself and signatures, as `sha256sum` writes them. */
export function checksums(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ![SUMS, SIGNATURE, ENVELOPE].includes(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
  return files.map((file) => `${sha256(readFileSync(join(folder, file)))}  ${file}\n`).join('');
}

/** Signs the checksums, and the provenance as a DSSE envelope, with a private key in PEM (ECDSA P-256 or Ed25519). */
export function signRelease(folder: string, privateKeyPem: string): void {
  const key = createPrivateKey(privateKeyPem);
  const signatureOf = (data: Buffer): string => sign(algorithmOf(key.asymmetricKeyType), data, key).toString('base64');
  writeFileSync(join(folder, SIGNATURE), signatureOf(readFileSync(join(folder, SUMS))));
  const statement = readFileSync(join(folder, STATEMENT));
  const envelope: Envelope = {
    payloadType: PAYLOAD_TYPE,
    payload: statement.toString('base64'),
    signatures: [{ sig: signatureOf(preAuthenticated(statement)) }],
  };
  writeFileSync(join(folder, ENVELOPE), JSON.stringify(envelope));
}

/** What is wrong with a release and its signatures; nothing if all is well. */
export function verifyRelease(folder: string, publicKeyPem: string): readonly string[] {
  const key = createPublicKey(publicKeyPem);
  const holds = (data: Buffer, signature: string): boolean =>
    verify(algorithmOf(key.asymmetricKeyType), data, key, Buffer.from(signature, 'base64'));
  const read = (file: string): Buffer => readFileSync(join(folder, file));
  const { payload, signatures } = JSON.parse(read(ENVELOPE).toString()) as Envelope;
  const statement = read(STATEMENT);
  const checks: readonly (readonly [boolean, string])[] = [
    [read(SUMS).toString() === checksums(folder), `files differ from ${SUMS}`],
    [holds(read(SUMS), read(SIGNATURE).toString()), `${SUMS} is not signed with this key`],
    [holds(preAuthenticated(statement), signatures[0]?.sig ?? ''), `${STATEMENT} is not signed with this key`],
    [payload === statement.toString('base64'), `${ENVELOPE} holds another statement than ${STATEMENT}`],
  ];
  return checks.flatMap(([isRight, problem]) => (isRight ? [] : [problem]));
}

/** DSSE signs the type together with the payload. */
function preAuthenticated(payload: Buffer): Buffer {
  const head = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Ed25519 has a hash of its own. */
function algorithmOf(type: string | undefined): 'sha256' | null {
  return type === 'ed25519' ? null : 'sha256';
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
