import type { AdmissionRequest, Operation, Requester } from '#shared/domain/admission/request.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { FAILURES } from '#webhook/messages.ts';

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

export type DecodedReview =
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
