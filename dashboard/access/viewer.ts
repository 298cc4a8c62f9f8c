import { createHash } from 'node:crypto';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { User } from '#shared/kube/access/reviews.ts';
import type { MaySee } from '#dashboard/views/redact.ts';

/** A user of the dashboard with their permissions. */
export interface Viewer {
  /** Identifies the user whose pages are counted together; absent without sign-in. */
  readonly user?: string;
  /** Whether pods of every namespace may be shown. */
  readonly seesAll: boolean;
  /** Checks those namespaces that are not known yet; never rejects. */
  readonly learn: (namespaces: Iterable<string>) => Promise<void>;
  /** Whether pods of the namespace may be shown; false before it was checked. */
  readonly maySee: MaySee;
}

export const SEES_ALL: Viewer = { seesAll: true, learn: () => Promise.resolve(), maySee: () => true };

const MAX_NAMESPACES = 1_000;
const AT_ONCE = 8;

/** A viewer whose namespaces are checked one by one with `mayList`; a failed check is repeated. */
export function limitedViewer(mayList: MayList): Viewer {
  const known = new Map<string, boolean>();
  const ask = async (namespace: string): Promise<void> => {
    const answer = await mayList(namespace);
    if (answer !== undefined) known.set(namespace, answer);
  };
  return {
    seesAll: false,
    maySee: (namespace) => known.get(namespace) === true,
    async learn(namespaces) {
      const unknown = [...new Set(namespaces)].filter((each) => each !== '' && !known.has(each));
      const asked = unknown.slice(0, Math.max(0, MAX_NAMESPACES - known.size));
      for (let at = 0; at < asked.length; at += AT_ONCE) await Promise.all(asked.slice(at, at + AT_ONCE).map(ask));
    },
  };
}

/** Whether a user may see the pods of a namespace; `undefined` if the check failed. */
export type MayList = (namespace: string) => Promise<boolean | undefined>;

export interface KnownAccessOptions {
  readonly clock: Clock;
  /** Asks the API server; never rejects. */
  readonly ask: (user: User, namespace: string) => Promise<boolean | undefined>;
  /** Maximum number of cached answers; the oldest are dropped first. */
  readonly most?: number;
}

interface CachedReview {
  readonly answer: Promise<boolean | undefined>;
  readonly askedAt: number;
}

const KEPT_MS = 60_000;
/** About 300 bytes each. */
const MAX_ANSWERS = 20_000;

/**
 * Caches for a minute what users may see, across their requests; concurrent checks of the same question share one
 * request. Users that differ in a group or an extra field are different users, because the answer may depend on it.
 */
export function createKnownAccess({ clock, ask, most = MAX_ANSWERS }: KnownAccessOptions): (user: User) => MayList {
  const answers = new Map<string, CachedReview>();

  function remember(key: string, answer: CachedReview['answer']): CachedReview['answer'] {
    const asked: CachedReview = { answer, askedAt: clock.monotonic() };
    putBounded(answers, most, [key, asked]);
    void answer.then((value) => {
      if (value === undefined && answers.get(key) === asked) answers.delete(key);
    });
    return answer;
  }

  return (user) => {
    const of = digestOf(user);
    return (namespace) => {
      const key = `${of} ${namespace}`;
      const known = answers.get(key);
      if (known !== undefined && clock.monotonic() - known.askedAt < KEPT_MS) return known.answer;
      return remember(key, ask(user, namespace));
    };
  };
}

/** A user may have thousands of bytes of groups, and thousands of answers. */
function digestOf({ username, uid, groups, extra }: User): string {
  const text = JSON.stringify([username, uid ?? null, groups, extra]);
  return createHash('sha256').update(text).digest('base64');
}
