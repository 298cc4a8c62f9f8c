import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const FOLDERS = ['agent', 'bench', 'deploy', 'shared', 'test', 'tools', 'webhook'];
const NAMED = /\bdocs\/[\w./-]*\w/g;
/** To a file of this repository. */
const LINK = /\]\((?![a-z]+:|#)([^)#\s]+)/g;

function filesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Folders, files, and decisions by the number alone. */
const pages = ['docs', ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((page) => `docs/${page}`)];

function exists(named: string): boolean {
  return pages.some((page) => page === named || page.startsWith(`${named}-`));
}

describe('pages of docs/ that other files name', () => {
  test.each(FOLDERS)('%s names none that is missing', (folder) => {
    const missing = filesBelow(folder).flatMap((file) =>
      (readFileSync(file, 'utf8').match(NAMED) ?? []).filter((named) => !exists(named)).map((named) => [file, named]),
    );
    expect(missing).toEqual([]);
  });
});

test('pages link to none that is missing', () => {
  const markdown = ['.', 'docs'].flatMap((folder) =>
    readdirSync(folder, { recursive: folder === 'docs', encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  );
  const missing = markdown.flatMap((page) =>
    Array.from(readFileSync(page, 'utf8').matchAll(LINK), ([, link = '']) => join(dirname(page), link))
      .filter((link) => !existsSync(link))
      .map((link) => [page, link]),
  );
  expect(markdown.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});
