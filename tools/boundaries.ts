/** `npm run check:boundaries`: the import rules on the resolved graph, and proof that the graph was really read. */
import { existsSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';

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

const options = await extractDepcruiseOptions('./.dependency-cruiser.cjs');
const { output } = await cruise(FOLDERS, options, undefined, { tsConfig: extractTsConfig('./tsconfig.json') });
if (typeof output === 'string') throw new Error(`dependency-cruiser answered with text: ${output.slice(0, 200)}`);

const sources = output.modules.filter((module) => module.source.endsWith('.ts')).length;
for (const violation of output.summary.violations) {
  console.error(`${violation.rule.name}: ${violation.from} → ${violation.to}`);
}
if (sources === 0) console.error('no TypeScript module was seen: the check would prove nothing');
process.exitCode = sources === 0 || output.summary.error > 0 ? 1 : 0;
console.log(`boundaries: ${sources} modules, ${output.summary.error} violations`);
