import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import type { User } from '#sandbox/api-server/operations/api-request.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { parseObjectBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';
import { fieldsAt, fieldsOf, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Resource } from '#shared/kube/resource.ts';

const authentication = { group: 'authentication.k8s.io', version: 'v1' };
const authorization = { group: 'authorization.k8s.io', version: 'v1' };

/** Reviews of identity and permissions. Without RBAC every known user may do everything. */
export const REVIEWS: readonly Resource[] = [
  { ...authentication, kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', namespaced: false },
  { ...authentication, kind: 'TokenReview', plural: 'tokenreviews', namespaced: false },
  { ...authorization, kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews', namespaced: true },
  { ...authorization, kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', namespaced: false },
  { ...authorization, kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', namespaced: false },
  { ...authorization, kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', namespaced: false },
];

export interface ReviewContext {
  readonly definitions: Definitions;
  readonly user: User;
  readonly userOfToken: (token: string) => User | undefined;
  readonly warnings: string[];
}

/** Which review a path names: `/apis/authentication.k8s.io/v1/selfsubjectreviews`. */
export function reviewOfPath(path: string): Resource | undefined {
  const segments = path.split('/').slice(2);
  const [group, version] = segments;
  const plural = segments.at(-1);
  return REVIEWS.find((review) => review.group === group && review.version === version && review.plural === plural);
}

/** Answers a review: the object sent, with its status. Throws 400. */
export function answerReview(review: Resource, body: Buffer, contentType: string, context: ReviewContext): KubeObject {
  const { group, version, kind } = review;
  const schema = context.definitions.schema(`io.k8s.api.${group.split('.')[0] ?? ''}.${version}.${kind}`);
  const target = {
    apiVersion: `${group}/${version}`,
    kind,
    schema,
    fieldValidation: 'Warn',
    warn: (text: string) => void context.warnings.push(text),
  } as const;
  const object = decodeObject(parseObjectBody(body, contentType), target);
  fieldsOf(object)['status'] = statusOf(kind, object, context);
  return object;
}

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

function statusOf(kind: string, object: KubeObject, { user, userOfToken }: ReviewContext): object {
  switch (kind) {
    case 'SelfSubjectReview':
      return { userInfo: user };
    case 'TokenReview':
      return tokenStatus(object, userOfToken);
    case 'SelfSubjectRulesReview':
      return EVERYTHING;
    default:
      return { allowed: true, reason: 'the sandbox has no authorisation: every token may do everything' };
  }
}

function tokenStatus(object: KubeObject, userOfToken: ReviewContext['userOfToken']): object {
  const token = textAt(fieldsAt(object, 'spec'), 'token');
  if (token === '') throw badRequest('spec.token: Required value');
  const found = userOfToken(token);
  return found === undefined ? { user: {}, error: 'invalid bearer token' } : { authenticated: true, user: found };
}
