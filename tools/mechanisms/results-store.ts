import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileResults } from './test-result.ts';

const FOLDER = 'node_modules/.cache/plimsoll/test-results';

/** Keeps the results of a file's tests until the file is run again. Another process may read them at any time. */
export function saveResults(results: FileResults): void {
  mkdirSync(FOLDER, { recursive: true });
  const path = resultsPath(results.file);
  writeFileSync(`${path}.part`, JSON.stringify(results));
  renameSync(`${path}.part`, path);
}

/** The results of every file that was run since its last change, by file. */
export function loadResults(): ReadonlyMap<string, FileResults> {
  const results = storedFiles().flatMap((path) => {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as FileResults;
    return isNewer(path, stored.file) ? [[stored.file, stored] as const] : [];
  });
  return new Map(results);
}

function storedFiles(): readonly string[] {
  try {
    const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
    return names.map((name) => join(FOLDER, name));
  } catch {
    return [];
  }
}

function isNewer(path: string, source: string): boolean {
  const changed = statSync(source, { throwIfNoEntry: false });
  return changed !== undefined && statSync(path).mtimeMs >= changed.mtimeMs;
}

function resultsPath(file: string): string {
  return join(FOLDER, `${file.replaceAll('/', '__')}.json`);
}
