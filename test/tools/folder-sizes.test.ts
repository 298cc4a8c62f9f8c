import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MOST_FILES = 20;
/** Not ours, or made. */
const NOT_OURS = new Set(['.git', 'node_modules', 'coverage']);
/** One kind of file, found by its number or name and never by looking through them. */
const LISTS = ['docs/decisions', 'test/vectors/seeds'];

interface Folder {
  readonly path: string;
  readonly files: number;
}

function foldersFrom(path: string): readonly Folder[] {
  const entries = readdirSync(path, { withFileTypes: true }).filter(({ name }) => !NOT_OURS.has(name));
  const inside = entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => foldersFrom(join(path, name)));
  return [{ path, files: entries.filter((entry) => entry.isFile()).length }, ...inside];
}

test(`no folder has more than ${MOST_FILES} files`, () => {
  const large = foldersFrom('.').filter(({ files }) => files > MOST_FILES);
  expect(large.filter(({ path }) => !LISTS.includes(path))).toEqual([]);
});

test('the folders that may have more are there', () => {
  const paths = foldersFrom('.').map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(LISTS));
});
