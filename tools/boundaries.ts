/** `npm run check:boundaries`: checks the import rules on the resolved graph, and that the graph was really read. */
import { existsSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { findFolderCycles } from './folder-order.ts';

const FOLDERS = [
  'shared',
  'webhook',
  'agent',
  'scheduler',
  'dashboard',
  'cli',
  'sandbox',
  'test',
  'bench',
  'tools',
].filter((folder) => existsSync(folder));

/** Their folders follow those of the sources. */
const TEST_FOLDERS = /^(test|bench)\//;

const options = await extractDepcruiseOptions('./.dependency-cruiser.cjs');
const { output } = await cruise(FOLDERS, options, undefined, { tsConfig: extractTsConfig('./tsconfig.json') });
if (typeof output === 'string') throw new Error(`dependency-cruiser answered with text: ${output.slice(0, 200)}`);

const sources = output.modules.filter((module) => module.source.endsWith('.ts')).length;
for (const violation of output.summary.violations) {
  console.error(`${violation.rule.name}: ${violation.from} → ${violation.to}`);
}
const files = output.modules.map(({ source, dependencies }) => ({
  source,
  imports: dependencies.map(({ resolved }) => resolved),
}));
const cycles = findFolderCycles(files.filter(({ source }) => !TEST_FOLDERS.test(source)));
for (const cycle of cycles) console.error(`folders that import each other: ${cycle.join(' → ')}`);
if (sources === 0) console.error('no TypeScript module was seen: the check would prove nothing');
const violations = output.summary.error + cycles.length;
process.exitCode = sources === 0 || violations > 0 ? 1 : 0;
console.log(`boundaries: ${sources} modules, ${violations} violations`);
