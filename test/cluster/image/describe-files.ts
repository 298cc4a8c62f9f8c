import { createHash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Owner and mode of a file, and its time of change unless it is a folder; its hash or what it links to. */
export interface FileDescription {
  readonly owner: string;
  readonly content: string;
}

/** Every file, folder and link below a folder, by path relative to it. */
export function describeFiles(root: string): ReadonlyMap<string, FileDescription> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return new Map(entries.map((entry) => [relative(root, pathOf(entry)), describe(entry)]));
}

function pathOf({ parentPath, name }: Dirent): string {
  return join(parentPath, name);
}

function describe(entry: Dirent): FileDescription {
  const { uid, gid, mode, mtimeMs } = lstatSync(pathOf(entry));
  const changed = entry.isDirectory() ? '' : ` ${mtimeMs}`;
  return { owner: `${uid}:${gid} ${mode.toString(8)}${changed}`, content: contentOf(entry) };
}

function contentOf(entry: Dirent): string {
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return `link to ${readlinkSync(pathOf(entry))}`;
  return createHash('sha256')
    .update(readFileSync(pathOf(entry)))
    .digest('hex');
}
