import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { reviewAccess, type Reviewed, type Reviewer, reviewToken, type User } from '#shared/kube/access/reviews.ts';
import { API_GROUP } from '#shared/kube/api-names.ts';
import type { Log } from '#shared/runtime/log.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { limitedViewer, SEES_ALL, type Viewer, createKnownAccess, type MayList } from './viewer.ts';

/** Admits a request with the permissions of its caller, or returns what is missing. Never rejects. */
export type Admit = (request: IncomingMessage) => Promise<Admission>;

export type Admission =
  | { readonly kind: 'admitted'; readonly viewer: Viewer }
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 503; readonly message: string };

export interface AdmitOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  /** Whether every caller has presented the certificate of the front proxy, so that its headers are trusted. */
  readonly trustsProxy: boolean;
}

/** Every caller sees everything: for the page of a sandbox on loopback. */
export const admitAll: Admit = () => Promise.resolve({ kind: 'admitted', viewer: SEES_ALL });

/** Above this number of concurrent callers, requests are refused. */
const MAX_CALLERS = 32;
/** For all callers and their namespaces together; further questions wait. */
const MAX_REVIEWS = 16;
const PODS = { group: '', resource: 'pods', verb: 'list' };
const NODE_PRESSURES = { group: API_GROUP, resource: 'nodepressures', verb: 'get', namespace: '' };
const NO_CREDENTIALS =
  'credentials are missing: send "Authorization: Bearer TOKEN" with a token such as "kubectl create token NAME" prints, or come through the front proxy';
const NOT_ACCEPTED =
  'the API server does not accept this token: it may have expired; "kubectl create token NAME" prints a new one';

/**
 * Asks the API server who calls (TokenReview, with each request) and what they may see (SubjectAccessReview). Each
 * namespace is checked at most once a minute per user.
 */
export function createAdmit({ client, trustsProxy, clock, log }: AdmitOptions): Admit {
  const reviewer: Reviewer = { request: atMost(MAX_REVIEWS, (sent) => client.request(sent)) };
  const known = createKnownAccess({ clock, ask: (user, namespace) => mayListPods(reviewer, user, namespace) });
  let pending = 0;
  return async (request) => {
    const credentials = credentialsOf(request.headers, request.headersDistinct, trustsProxy);
    if (credentials === undefined) return refused(401, NO_CREDENTIALS);
    if (pending >= MAX_CALLERS) return refused(503, 'cannot check credentials: too many checks at once; try again');
    pending += 1;
    try {
      return await admitWith({ reviewer, known, log }, credentials);
    } finally {
      pending -= 1;
    }
  };
}

interface Checks {
  readonly reviewer: Reviewer;
  readonly known: (user: User) => MayList;
  readonly log: Log;
}

async function admitWith({ reviewer, known, log }: Checks, credentials: Credentials): Promise<Admission> {
  const found = await userOf(reviewer, credentials);
  if (!found.ok) return unanswered(log, found.message);
  const user = found.value;
  if (user === undefined) return refused(401, NOT_ACCEPTED);
  const mayRead = await reviewAccess(reviewer, user, NODE_PRESSURES);
  if (!mayRead.ok) return unanswered(log, mayRead.message);
  if (!mayRead.value) return refused(403, mayNotRead(user));
  const mayListAll = await reviewAccess(reviewer, user, { ...PODS, namespace: '' });
  if (!mayListAll.ok) return unanswered(log, mayListAll.message);
  faultLog(log, NOT_CHECKED).worked('credentials');
  const viewer = mayListAll.value ? SEES_ALL : limitedViewer(known(user));
  return { kind: 'admitted', viewer: { ...viewer, user: user.username } };
}

function userOf(reviewer: Reviewer, credentials: Credentials): Promise<Reviewed<User | undefined>> {
  if (credentials.kind === 'user') return Promise.resolve({ ok: true, value: credentials.user });
  return reviewToken(reviewer, credentials.token);
}

async function mayListPods(reviewer: Reviewer, user: User, namespace: string): Promise<boolean | undefined> {
  const answer = await reviewAccess(reviewer, user, { ...PODS, namespace });
  return answer.ok ? answer.value : undefined;
}

function mayNotRead({ username }: User): string {
  return `user "${username}" may not get nodepressures.plimsoll.dev: bind the ClusterRole plimsoll-viewer to it`;
}

const NOT_CHECKED = 'Credentials of a dashboard user not checked';

function unanswered(log: Log, message: string): Admission {
  faultLog(log, NOT_CHECKED).failed('credentials', { kind: 'unanswered', message });
  return refused(503, 'cannot check credentials: the API server does not answer; try again');
}

function refused(status: 401 | 403 | 503, message: string): Admission {
  return { kind: 'refused', status, message };
}

/** The same call with at most `most` in progress at once; the others wait in order of arrival. */
export function atMost<A extends readonly unknown[], T>(
  most: number,
  call: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) underWay -= 1;
    else next();
  };
  return async (...args) => {
    // A finished call passes its place to the next one, so that a new call cannot take it.
    if (underWay >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay += 1;
    return await call(...args).finally(leave);
  };
}

export type Credentials =
  { readonly kind: 'token'; readonly token: string } | { readonly kind: 'user'; readonly user: User };

const MAX_TOKEN_LENGTH = 16_384;
const EXTRA = 'x-remote-extra-';

/**
 * The identity that a request claims: a bearer token, or the headers of a front proxy (`X-Remote-User`,
 * `X-Remote-Group`, `X-Remote-Extra-…`). The headers count only with `trustsProxy`: then every caller is the proxy, by
 * its certificate. `k8s.io/apiserver/pkg/authentication/request/headerrequest`.
 */
function credentialsOf(
  headers: IncomingHttpHeaders,
  distinct: NodeJS.Dict<string[]>,
  trustsProxy: boolean,
): Credentials | undefined {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token !== undefined && token.length <= MAX_TOKEN_LENGTH) return { kind: 'token', token };
  const [username = ''] = distinct['x-remote-user'] ?? [];
  if (!trustsProxy || username === '') return undefined;
  const extra = Object.entries(distinct).filter(([name]) => name.startsWith(EXTRA));
  return {
    kind: 'user',
    user: {
      username,
      groups: distinct['x-remote-group'] ?? [],
      extra: Object.fromEntries(extra.map(([name, values]) => [name.slice(EXTRA.length), values ?? []])),
    },
  };
}
