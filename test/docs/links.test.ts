import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const PAGES = [...globSync('*.md'), ...globSync('docs/**/*.md'), 'deploy/charts/plimsoll/README.md'].toSorted();
const FENCED = /^ *```[\s\S]*?^ *```$/gm;

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
}

function anchorsOf(page: string): ReadonlySet<string> {
  const prose = readFileSync(page, 'utf8').replaceAll(FENCED, '');
  return new Set(Array.from(prose.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading)));
}

/** What is wrong with the links of a page to other files of the repository. */
function brokenLinks(page: string): readonly string[] {
  const prose = readFileSync(page, 'utf8').replaceAll(FENCED, '');
  const targets = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
  return targets.filter((target) => !/^\w+:/.test(target) && !leadsSomewhere(page, target));
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  return existsSync(file) && (anchor === undefined || !file.endsWith('.md') || anchorsOf(file).has(anchor));
}

test.each(PAGES)('every link of %s leads to a file and a heading of it', (page) => {
  expect(brokenLinks(page)).toEqual([]);
});
