import { isRecord } from '#shared/kube/decode/wire-object.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';

/** Sends a review to the API server. */
export type Reviewer = Pick<KubeClient, 'request'>;

/** A user as TokenReview returns it and SubjectAccessReview takes it. */
export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What a user wants to do; an empty namespace means all of them. */
export interface Access {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verb: string;
  /** One object by name; absent for all. */
  readonly name?: string;
  readonly namespace: string;
}

export type Reviewed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const AUTHORIZATION = 'authorization.k8s.io/v1';

/** The user of a token, according to the API server; `undefined` if it does not accept the token. */
export async function reviewToken(reviewer: Reviewer, token: string): Promise<Reviewed<User | undefined>> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
  const status = await review(reviewer, TOKEN_REVIEWS, body);
  if (!status.ok) return status;
  const { authenticated, user } = status.value;
  return { ok: true, value: authenticated === true && isRecord(user) ? userOf(user) : undefined };
}

/** Whether the API server allows a user this access. The caller needs permission to create SubjectAccessReviews. */
export function reviewAccess(reviewer: Reviewer, user: User, access: Access): Promise<Reviewed<boolean>> {
  const { username, uid, groups, extra } = user;
  const spec = { user: username, ...(uid !== undefined && { uid }), groups, extra, resourceAttributes: access };
  return askAccess(reviewer, 'SubjectAccessReview', spec);
}

/** Whether the API server allows the caller itself this access. */
export function reviewOwnAccess(reviewer: Reviewer, access: Access): Promise<Reviewed<boolean>> {
  return askAccess(reviewer, 'SelfSubjectAccessReview', { resourceAttributes: access });
}

async function askAccess(
  reviewer: Reviewer,
  kind: 'SubjectAccessReview' | 'SelfSubjectAccessReview',
  spec: object,
): Promise<Reviewed<boolean>> {
  const path = `/apis/${AUTHORIZATION}/${kind.toLowerCase()}s`;
  const status = await review(reviewer, path, { apiVersion: AUTHORIZATION, kind, spec });
  return status.ok ? { ok: true, value: status.value['allowed'] === true } : status;
}

async function review(reviewer: Reviewer, path: string, body: object): Promise<Reviewed<Record<string, unknown>>> {
  const outcome = await reviewer.request({ method: 'POST', path, body });
  if (outcome.kind !== 'ok') return { ok: false, message: outcome.message };
  const status = isRecord(outcome.object) ? outcome.object['status'] : undefined;
  return { ok: true, value: isRecord(status) ? status : {} };
}

function userOf({ username, uid, groups, extra }: Readonly<Record<string, unknown>>): User | undefined {
  if (typeof username !== 'string' || username === '') return undefined;
  return {
    username,
    ...(typeof uid === 'string' && { uid }),
    groups: textsIn(groups),
    extra: Object.fromEntries(
      Object.entries(isRecord(extra) ? extra : {}).map(([key, value]) => [key, textsIn(value)]),
    ),
  };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
