import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { SERVICE_ACCOUNT_PREFIX } from '#shared/domain/priority/priority-policy.ts';
import { FAILURES, type HttpFailure } from '#webhook/messages.ts';

/** What the first bytes of an AdmissionReview contain. */
export interface ReviewStart {
  readonly uid: string;
  /** `undefined` if these bytes do not contain it, because the name before it is too long. */
  readonly namespace: string | undefined;
  readonly username: string | undefined;
}

const LOOKED_AT_BYTES = 4_096;

/** In the order in which the API server writes them (k8s.io/api/admission/v1). */
const UID = /^\{"kind":"AdmissionReview","apiVersion":"admission\.k8s\.io\/v1","request":\{"uid":"([^"\\]{1,128})"/;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const KINDS = String.raw`"kind":\{[^}]*\},"resource":\{[^}]*\},(?:"subResource":${TEXT},)?"requestKind":\{[^}]*\},"requestResource":\{[^}]*\},(?:"requestSubResource":${TEXT},)?`;
const SENDER = new RegExp(
  String.raw`^,${KINDS}(?:"name":${TEXT},)?(?:"namespace":"([^"\\]*)",)?"operation":${TEXT},"userInfo":\{(?:"username":"([^"\\]*)")?`,
);

/** Reads the start of a body; `undefined` if it does not start as the API server writes a review. */
export function reviewStart(bytes: Buffer): ReviewStart | undefined {
  const text = bytes.toString('latin1', 0, LOOKED_AT_BYTES);
  const found = UID.exec(text);
  const [whole = '', uid] = found ?? [];
  if (uid === undefined) return undefined;
  const sender = SENDER.exec(text.slice(whole.length));
  return { uid, namespace: sender === null ? undefined : (sender[1] ?? ''), username: sender?.[2] };
}

/** What is wrong with the method and headers of a review; `undefined` if they are valid. */
export function headProblem({ method, headers }: IncomingMessage): HttpFailure | undefined {
  if (method !== 'POST') return FAILURES.wrongMethod();
  if (!isJson(headers['content-type'])) return FAILURES.wrongContentType();
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? undefined : FAILURES.encoded();
}

/** The API server sends the plain media type, which is compared first. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** The sender of a review, if known. */
export interface ReviewSender {
  readonly namespace: string | undefined;
  readonly username: string | undefined;
}

const CONTROLLER = `${SERVICE_ACCOUNT_PREFIX}kube-system:`;

/**
 * The holders that share a budget for a review: its namespace, and its user unless that is a Kubernetes component,
 * which acts for every namespace. If neither is known, the holder is `unknown`.
 */
export function holdersOf({ namespace, username }: ReviewSender): readonly string[] {
  const holders = [
    ...(namespace === undefined || namespace === '' ? [] : [`namespace ${namespace}`]),
    ...(username === undefined || actsForAll(username) ? [] : [`user ${username}`]),
  ];
  return holders.length === 0 && namespace === undefined ? ['unknown'] : holders;
}

function actsForAll(username: string): boolean {
  if (username.startsWith(CONTROLLER)) return true;
  return username.startsWith('system:') && !username.startsWith(SERVICE_ACCOUNT_PREFIX);
}

const PIECE_BYTES = 256 * 1024;

/** The JSON value of a scanned body; `undefined` if it is not valid JSON. Invalid UTF-8 becomes U+FFFD, as in Go. */
export function parseBody(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(textOf(bytes)) as unknown };
  } catch {
    return undefined;
  }
}

/**
 * Decodes in pieces: V8 keeps a string of 1 MiB or more outside its heap, where the heap limit triggers no garbage
 * collection.
 */
function textOf(bytes: Buffer): string {
  if (bytes.length <= PIECE_BYTES) return bytes.toString('utf8');
  const decoder = new StringDecoder('utf8');
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) text += decoder.write(bytes.subarray(at, at + PIECE_BYTES));
  return text + decoder.end();
}

/**
 * Upper bound of the memory that the values of a body take: strings with two bytes per character, and the objects
 * decoded from them.
 */
export function parsedBytes(length: number, values: number): number {
  return length * 4 + values * 160;
}
