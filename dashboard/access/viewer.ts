import type { MaySee } from '#dashboard/views/redact.ts';
import type { MayList } from './known-access.ts';

/** A user of the dashboard, with what they may see. */
export interface Viewer {
  /** Whose pages are counted together; absent where the dashboard has no sign-in. */
  readonly user?: string;
  /** Whether pods of every namespace may be shown. */
  readonly seesAll: boolean;
  /** Asks about those namespaces that are not known yet; never rejects. */
  readonly learn: (namespaces: Iterable<string>) => Promise<void>;
  /** Whether pods of the namespace may be shown; not before it was asked about. */
  readonly maySee: MaySee;
}

export const SEES_ALL: Viewer = { seesAll: true, learn: () => Promise.resolve(), maySee: () => true };

const MOST_NAMESPACES = 1_000;
const AT_ONCE = 8;

/** A viewer whose namespaces are asked about one by one, `mayList` each; an unanswered question is asked again. */
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
      const asked = unknown.slice(0, Math.max(0, MOST_NAMESPACES - known.size));
      for (let at = 0; at < asked.length; at += AT_ONCE) await Promise.all(asked.slice(at, at + AT_ONCE).map(ask));
    },
  };
}
