import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A directory with the given files that goes away with `remove`. */
export interface TemporaryTree {
  readonly root: string;
  readonly write: (path: string, content: string) => void;
  /** A file or a folder with all that is in it. */
  readonly removePath: (path: string) => void;
  readonly remove: () => void;
}

export function temporaryTree(files: Readonly<Record<string, string>> = {}): TemporaryTree {
  const root = mkdtempSync(join(tmpdir(), 'plimsoll-tree-'));

  function write(path: string, content: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  for (const [path, content] of Object.entries(files)) write(path, content);
  const removePath = (path: string): void => rmSync(join(root, path), { recursive: true });
  return { root, write, removePath, remove: () => rmSync(root, { recursive: true, force: true }) };
}
