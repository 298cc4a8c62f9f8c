/**
 * `npm run generate` writes every generated file that git tracks: the pages of docs/reference, the README of the chart,
 * the page of the dashboard. With `--check` it writes nothing and names the files that are stale.
 */
import { existsSync, readFileSync } from 'node:fs';
import { textArtifacts } from './text-artifacts.ts';
import { writeArtifact } from './write-artifact.ts';

const artifacts = await textArtifacts();
if (process.argv.includes('--check')) check();
else for (const artifact of artifacts) writeArtifact('.', artifact);

function check(): void {
  const stale = artifacts.filter(({ path, text }) => read(path) !== text);
  for (const { path } of stale) console.error(`${path} is stale: run npm run generate`);
  console.log(`generated: ${artifacts.length} files, ${stale.length} stale`);
  if (stale.length > 0) process.exitCode = 1;
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
