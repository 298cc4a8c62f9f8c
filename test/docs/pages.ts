import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shownCommands, type ShownCommand } from './shown-commands.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The pages that people follow step by step, from the root of the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  ...['tutorial', 'application-teams', 'faq', 'runbook'].map((name) => `docs/${name}.md`),
  ...pagesIn('docs/guides'),
  ...pagesIn('docs/contributing'),
];

function pagesIn(folder: string): readonly string[] {
  return readdirSync(`${ROOT}${folder}`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
}

/** The text of a page. */
export function readPage(page: string): string {
  return readFileSync(`${ROOT}${page}`, 'utf8');
}

/** Every command of every page, in order. */
export function allCommands(): readonly ShownCommand[] {
  return PAGES.flatMap((page) => shownCommands(page, readPage(page)));
}

const FENCED = /^ *```[\s\S]*?^ *```$/gm;

/** The text of a page without its fenced code. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(FENCED, '');
}
