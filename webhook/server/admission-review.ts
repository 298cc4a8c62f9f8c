import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { crc32 } from 'node:zlib';
import type { AdmissionRequest, Operation, Requester } from '#shared/domain/admission/request.ts';
import { isRecord, jsonIn } from '#shared/kube/decode/wire-object.ts';
import { FAILURES, type HttpFailure } from '#webhook/messages.ts';
import type { AdmissionDecision, Refused } from '#shared/domain/admission/decision.ts';
import { priorityPatch } from '#shared/kube/admission/pod-patches.ts';

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

const PIECE_BYTES = 256 * 1024;

/** The JSON value of a scanned body; `undefined` if it is not valid JSON. Invalid UTF-8 becomes U+FFFD, as in Go. */
export function parseBody(bytes: Buffer): unknown {
  return jsonIn(textOf(bytes));
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

/** A decoded AdmissionReview; the objects stay raw until a handler decodes them. */
export interface Review {
  readonly request: AdmissionRequest;
  /** `undefined` if the request has null or no value. */
  readonly object: unknown;
  readonly oldObject: unknown;
  /** Deadline of the answer, by the monotonic clock. */
  readonly answerBy: number;
  /** Upper bound of the memory that the decoded values take. */
  readonly heldBytes: number;
}

type DecodedReview =
  | { readonly kind: 'review'; readonly review: Review }
  /** An AdmissionReview that the API server would never send: the answer must carry its uid. */
  | { readonly kind: 'invalidRequest'; readonly uid: string; readonly message: string }
  /** Not an AdmissionReview v1. */
  | { readonly kind: 'notAReview'; readonly message: string };

type WireRecord = Readonly<Record<string, unknown>>;

/** The claim in a service account token that names the node of its pod. */
const NODE_NAME_CLAIM = 'authentication.kubernetes.io/node-name';
const API_VERSION = 'admission.k8s.io/v1';
const MAX_UID_LENGTH = 128;
/** Kubernetes names are far shorter; user names come from the authenticator and may be longer. */
const MAX_TEXT_LENGTH = 4_096;
/** Fields that appear again in answers, logs and our own requests. */
const REPEATED_TEXTS = ['namespace', 'name', 'resource.resource', 'subResource', 'userInfo.username'] as const;
/** None of our webhook rules includes CONNECT. */
const OPERATIONS: readonly string[] = ['CREATE', 'UPDATE', 'DELETE'] satisfies Operation[];
const NEEDS_OBJECT = ['CREATE', 'UPDATE'];
const NEEDS_OLD_OBJECT = ['UPDATE', 'DELETE'];

/** Decodes a parsed body; unknown fields are ignored. */
export function decodeReview(body: unknown, terms: Pick<Review, 'answerBy' | 'heldBytes'>): DecodedReview {
  const wire = findRequest(body);
  if (typeof wire === 'string') return { kind: 'notAReview', message: wire };
  const uid = wire['uid'] as string;
  const problem = findProblem(wire);
  if (problem !== undefined) return { kind: 'invalidRequest', uid, message: problem };
  return {
    kind: 'review',
    review: {
      request: readRequest(wire, uid),
      object: wire['object'] ?? undefined,
      oldObject: wire['oldObject'] ?? undefined,
      ...terms,
    },
  };
}

/** The request with its uid, or why it cannot be found. */
function findRequest(body: unknown): WireRecord | string {
  if (!isRecord(body)) return FAILURES.notObject().message;
  const { apiVersion, kind, request } = body;
  if (apiVersion !== API_VERSION || kind !== 'AdmissionReview') {
    return FAILURES.otherKind(API_VERSION).message;
  }
  if (!isRecord(request)) return 'AdmissionReview has no request';
  const { uid } = request;
  const isUid = typeof uid === 'string' && uid.length > 0 && uid.length <= MAX_UID_LENGTH;
  return isUid ? request : FAILURES.noUid(MAX_UID_LENGTH).message;
}

function findProblem(wire: WireRecord): string | undefined {
  return findTextTooLong(wire) ?? findWrongShape(wire);
}

function findTextTooLong({ namespace, name, resource, subResource, userInfo }: WireRecord): string | undefined {
  const texts = [namespace, name, asRecord(resource)['resource'], subResource, asRecord(userInfo)['username']];
  const wrong = REPEATED_TEXTS[texts.findIndex((text) => typeof text === 'string' && text.length > MAX_TEXT_LENGTH)];
  return wrong === undefined ? undefined : `request.${wrong}: expected at most ${MAX_TEXT_LENGTH} characters`;
}

function findWrongShape({ operation, resource, object, oldObject }: WireRecord): string | undefined {
  if (typeof operation !== 'string' || !OPERATIONS.includes(operation)) {
    return `request.operation: expected one of ${OPERATIONS.join(', ')}`;
  }
  if (!isRecord(resource) || typeof resource['resource'] !== 'string') {
    return 'request.resource: expected an object that names a resource';
  }
  if (NEEDS_OBJECT.includes(operation) && !isRecord(object))
    return `request.object: expected an object for ${operation}`;
  if (NEEDS_OLD_OBJECT.includes(operation) && !isRecord(oldObject)) {
    return `request.oldObject: expected an object for ${operation}`;
  }
  return undefined;
}

function readRequest(wire: WireRecord, uid: string): AdmissionRequest {
  const resource = asRecord(wire['resource']);
  return {
    uid,
    operation: wire['operation'] as Operation,
    group: text(resource['group']),
    resource: text(resource['resource']),
    subresource: text(wire['subResource']),
    namespace: text(wire['namespace']),
    name: text(wire['name']),
    requester: readRequester(asRecord(wire['userInfo'])),
    isDryRun: wire['dryRun'] === true,
  };
}

function readRequester({ username, groups, extra }: WireRecord): Requester {
  const names: readonly unknown[] = Array.isArray(groups) ? groups : [];
  const nodeName = onlyText(asRecord(extra)[NODE_NAME_CLAIM]);
  return { name: text(username), groups: names.filter((group) => typeof group === 'string'), nodeName };
}

/** The API server sends every token claim as a list with one value. */
function onlyText(values: unknown): string | undefined {
  const texts: readonly unknown[] = Array.isArray(values) ? values : [];
  const [first] = texts;
  return typeof first === 'string' && texts.length === 1 ? first : undefined;
}

function asRecord(value: unknown): WireRecord {
  return isRecord(value) ? value : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** An admission answer as JSON text. `object` is the raw pod to which a change applies. */
export function encodeReview(uid: string, decision: AdmissionDecision, object: unknown): string {
  const response = {
    uid,
    allowed: decision.kind === 'allowed',
    ...(decision.warnings.length > 0 && { warnings: decision.warnings.map(bounded) }),
    ...(decision.kind === 'refused' && { status: refusalStatus(decision) }),
    ...encodePatch(decision, object),
    auditAnnotations: auditAnnotations(decision),
  };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

const REASONS = {
  400: 'BadRequest',
  403: 'Forbidden',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
} as const;

function refusalStatus({ code, because, retryAfterSeconds, causes, unconfirmed }: Refused) {
  const details = { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }), ...(causes && { causes }) };
  return {
    status: 'Failure',
    code,
    reason: REASONS[code],
    message: unconfirmed === undefined ? because.text : `${because.text}; ${unconfirmed}`,
    ...(Object.keys(details).length > 0 && { details }),
  };
}

function encodePatch(decision: AdmissionDecision, object: unknown) {
  if (decision.kind === 'refused' || decision.change === undefined) return {};
  const patch = priorityPatch(object, decision.change);
  if (patch.length === 0) return {};
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

const HASH_DIGITS = 8;

/**
 * The audit annotations of an answer; the API server prefixes them with the name of the webhook entry. When a key is
 * set twice for one API request, the API server keeps the first value and logs a warning. So only a single answer uses
 * the keys `decision` and `because`; one of several answers gets a key derived from its content, and a mutation that
 * changes nothing gets no annotation.
 */
export function auditAnnotations(decision: AdmissionDecision): Readonly<Record<string, string>> {
  const { because, oneOf } = decision;
  if (oneOf === undefined) return { decision: because.code, because: bounded(because.text) };
  if (oneOf === 'mutations' && decision.kind === 'allowed' && decision.change === undefined) return {};
  const value = bounded(`${because.code}: ${because.text}`);
  return { [`${KEYS[oneOf]}-${fingerprint(value)}`]: value };
}

const KEYS = { mutations: 'mutation', items: 'item' } as const;

function fingerprint(text: string): string {
  return crc32(text).toString(16).padStart(HASH_DIGITS, '0');
}

const MAX_CHARACTERS = 500;

/**
 * Shortens a text for an answer: the API server truncates warnings beyond 4 KiB in total, and keeps audit annotations
 * in memory.
 */
function bounded(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 1)}…`;
}
