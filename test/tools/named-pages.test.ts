import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { proseOf } from '#test/docs/pages.ts';

const PARTS = 'agent|bench|cli|dashboard|deploy|sandbox|scheduler|shared|test|tools|webhook';
/** A file or folder of this repository, as code. */
const CODE_PATH = new RegExp(`\`((?:${PARTS})/[\\w./-]+)\``, 'g');
/** Ids of oddities, as comments cite them. */
const ODDITIES = /\boddit(?:y|ies) ([A-Z]\d+(?:, [A-Z]\d+)*)/g;
const FOLDERS = ['agent', 'bench', 'deploy', 'shared', 'test', 'tools', 'webhook'];
/** Not the folders of tests that have the same name. */
const NAMED = /(?<!test\/|cluster\/)\bdocs\/[\w./-]*\w/g;
/** To a file of this repository. */
const LINK = /\]\((?![a-z]+:|#)([^)#\s]+)/g;
/** To a heading, of the page itself where no other is named. */
const LINK_TO_HEADING = /\]\((?![a-z]+:)([^)#\s]*)#([^)\s]+)\)/g;

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

const markdown = [
  'deploy/charts/plimsoll/README.md',
  ...['.', 'docs'].flatMap((folder) =>
    readdirSync(folder, { recursive: folder === 'docs', encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
];

/** What pages name by a pattern and what is not there, with the page. */
function missingIn(pattern: RegExp, fileOf: (page: string, named: string) => string): readonly unknown[] {
  return markdown.flatMap((page) =>
    Array.from(readFileSync(page, 'utf8').matchAll(pattern), ([, named = '']) => fileOf(page, named))
      .filter((file) => !existsSync(file))
      .map((file) => [page, file]),
  );
}

test('every oddity that a comment cites is on its page', () => {
  const page = readFileSync('docs/contributing/kubernetes-oddities.md', 'utf8');
  const cited = ['agent', 'sandbox', 'shared', 'webhook'].flatMap((folder) =>
    filesBelow(folder).flatMap((file) =>
      Array.from(readFileSync(file, 'utf8').matchAll(ODDITIES), ([, ids = '']) => ids.split(', ')).flat(),
    ),
  );
  expect(new Set(cited).size).toBeGreaterThan(40);
  expect(cited.filter((id) => !new RegExp(`^\\| ${id} `, 'm').test(page))).toEqual([]);
});

test('pages link to none that is missing', () => {
  expect(markdown.length).toBeGreaterThan(20);
  expect(missingIn(LINK, (page, link) => join(dirname(page), link))).toEqual([]);
});

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
}

function hasHeading(page: string, anchor: string): boolean {
  const headings = proseOf(readFileSync(page, 'utf8')).matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading = '']) => anchorOf(heading)).includes(anchor);
}

test.each(markdown)('%s links to no heading that is missing', (page) => {
  const links = proseOf(readFileSync(page, 'utf8')).matchAll(LINK_TO_HEADING);
  const missing = Array.from(links).filter(([, path = '', anchor = '']) => {
    const file = path === '' ? page : join(dirname(page), path);
    return file.endsWith('.md') && !hasHeading(file, anchor);
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

test('pages name no file or folder that is missing', () => {
  expect(missingIn(CODE_PATH, (_, path) => path)).toEqual([]);
});
