/** `npm run cluster:up`, `npm run cluster:down`: a Kubernetes cluster with Plimsoll in it, to play with. */
import { down } from './down.ts';
import { keep } from './keep.ts';
import { up } from './up.ts';

const USAGE_EXIT_CODE = 2;

const COMMANDS: ReadonlyMap<string, () => Promise<void>> = new Map([
  ['up', async () => console.log(await up({ mayHaveNode: true }))],
  ['up --no-node', async () => console.log(await up({ mayHaveNode: false }))],
  ['down', async () => console.log(await down())],
  ['keep', () => keep({ hasNode: false })],
  ['keep --in-own-namespaces', () => keep({ hasNode: true })],
]);

const command = COMMANDS.get(process.argv.slice(2).join(' '));
if (command === undefined) {
  console.error('usage: npm run cluster:up [-- --no-node], npm run cluster:down');
  process.exitCode = USAGE_EXIT_CODE;
} else {
  await command().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
