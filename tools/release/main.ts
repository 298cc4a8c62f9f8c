/**
 * `npm run release -- --dry-run` makes a release in dist/release without a network: changelog, image, chart, manifests,
 * bill of materials, checksums and provenance (docs/contributing/release.md). Missing parts are named and left out;
 * without `--dry-run` they are an error. `--fetch` downloads Node for both architectures, the only step that needs a
 * network.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { makeRelease } from './make-release.ts';
import { fetchNode, NODE_FOLDER, nodeExecutables, type NodePackages } from './node-executables.ts';
import { ARCHITECTURES } from './oci/image.ts';
import { signRelease, verifyRelease } from './sign.ts';
import { readSource } from './source.ts';

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    fetch: { type: 'boolean', default: false },
    output: { type: 'string', default: 'dist/release' },
    repository: { type: 'string', default: 'plimsoll' },
    builder: { type: 'string', default: 'https://plimsoll.dev/release/local' },
    base: { type: 'string' },
    key: { type: 'string' },
    verify: { type: 'string' },
  },
});
const packages = JSON.parse(readFileSync('deploy/image/node.json', 'utf8')) as NodePackages;

if (values.verify !== undefined) judge(verifyRelease(values.output, readFileSync(values.verify, 'utf8')));
else if (values.fetch) fetchNode(packages, NODE_FOLDER);
else await release();

async function release(): Promise<void> {
  const { output, repository, builder, base, key } = values;
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const source = readSource();
  const node = nodeExecutables(packages, NODE_FOLDER);
  const missing = [
    ...ARCHITECTURES.filter((each) => node[each] === undefined).map(
      (each) => `no image for ${each}: Node is not there; run npm run release -- --fetch`,
    ),
    ...(base === undefined ? ['the image has no C library and does not start: name a base with --base'] : []),
    ...(source.changed.length > 0
      ? [`${source.changed.length} files differ from commit ${source.commit}, for example ${source.changed[0]}`]
      : []),
    ...(key === undefined ? ['nothing is signed: name a private key with --key'] : []),
  ];
  judge(missing);
  if (missing.length > 0 && !values['dry-run']) return;
  process.exitCode = 0;
  const digest = await makeRelease(output, { version, source, repository, builder, node, ...(base && { base }) });
  if (key !== undefined) signRelease(output, readFileSync(key, 'utf8'));
  console.log(`${output}: version ${version}, image ${digest}`);
}

function judge(problems: readonly string[]): void {
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
