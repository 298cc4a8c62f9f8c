import { execFileSync } from 'node:child_process';
import type { Commit } from './changelog.ts';

/** The checkout that is released. */
export interface ReleaseSource {
  readonly commit: string;
  /** RFC 3339, of the commit. */
  readonly date: string;
  /** Files that differ from the commit, and those of deploy/ that are not in it. */
  readonly changed: readonly string[];
  /** Commits since the previous version, or all; newest first. */
  readonly commits: readonly Commit[];
}

const [FIELD, RECORD] = ['\u001f', '\u001e'];

/** Reads the checkout with git. Rejects if it is not a git checkout. */
export function readSource(): ReleaseSource {
  const [commit = '', date = ''] = git('log', '-1', '--format=%H %cI').trim().split(' ');
  const changed = git('status', '--porcelain', '--untracked-files=no').split('\n').filter(Boolean);
  const added = git('ls-files', '--others', '--exclude-standard', '--', 'deploy').split('\n').filter(Boolean);
  const before = versionBefore();
  const range = before === '' ? 'HEAD' : `${before}..HEAD`;
  return { commit, date, changed: [...changed.map((line) => line.slice(3)), ...added], commits: commitsOf(range) };
}

/** The files below a path that git tracks, so that nothing else of a working folder is included. */
export function trackedFiles(path: string): readonly string[] {
  return git('ls-files', '-z', '--', path).split('\0').filter(Boolean);
}

function commitsOf(range: string): readonly Commit[] {
  const format = ['%H', '%s', '%b'].join(FIELD) + RECORD;
  const records = git('log', '--no-merges', `--format=${format}`, range).split(RECORD);
  return records.slice(0, -1).map((record) => {
    const [hash = '', subject = '', body = ''] = record.trim().split(FIELD);
    return { hash, subject, body };
  });
}

/** The tag of the version before the checked-out commit; empty if there is none. */
function versionBefore(): string {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD~').trim();
  } catch {
    return '';
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
}
