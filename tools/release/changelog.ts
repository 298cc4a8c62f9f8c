/** A git commit. */
export interface Commit {
  readonly hash: string;
  readonly subject: string;
  readonly body: string;
}

/** A conventional commit: `type(scope)!: text`. */
interface ChangelogEntry {
  readonly type: string;
  readonly scope: string;
  readonly text: string;
  readonly isBreaking: boolean;
  readonly hash: string;
}

const SUBJECT = /^(?<type>[a-z]+)(?:\((?<scope>[^)]+)\))?(?<mark>!)?: (?<text>.+)$/;
const BREAKING = /^BREAKING[ -]CHANGE: /m;
const SHORT_HASH = 8;

/** What readers of a changelog look for, in this order; other types of commits are not listed. */
const SECTIONS = [
  { title: 'Breaking changes', has: ({ isBreaking }: ChangelogEntry) => isBreaking },
  { title: 'New', has: ({ type, isBreaking }: ChangelogEntry) => type === 'feat' && !isBreaking },
  { title: 'Fixed', has: ({ type, isBreaking }: ChangelogEntry) => type === 'fix' && !isBreaking },
  { title: 'Faster or smaller', has: ({ type, isBreaking }: ChangelogEntry) => type === 'perf' && !isBreaking },
] as const;

/** The changelog of a version in Markdown, from its commits, newest first. `date` is that of its last commit. */
export function changelog(version: string, date: string, commits: readonly Commit[]): string {
  const changes = commits.flatMap((commit) => changeOf(commit) ?? []);
  const sections = SECTIONS.flatMap(({ title, has }) => {
    const found = changes.filter(has);
    return found.length === 0 ? [] : [`\n## ${title}\n\n${found.toSorted(byScope).map(line).join('')}`];
  });
  return `# ${version} (${date})\n${sections.length === 0 ? '\nNothing that users notice.\n' : sections.join('')}`;
}

function changeOf({ hash, subject, body }: Commit): ChangelogEntry | undefined {
  const found = SUBJECT.exec(subject)?.groups;
  if (found === undefined) return undefined;
  const { type = '', scope = '', mark, text = '' } = found;
  return { type, scope, text, isBreaking: mark !== undefined || BREAKING.test(body), hash };
}

/** Sorting is stable: within a scope the newest stays first. */
function byScope(a: ChangelogEntry, b: ChangelogEntry): number {
  return a.scope < b.scope ? -1 : Number(a.scope > b.scope);
}

function line({ scope, text, hash }: ChangelogEntry): string {
  return `- ${scope === '' ? '' : `**${scope}**: `}${text} (${hash.slice(0, SHORT_HASH)})\n`;
}
