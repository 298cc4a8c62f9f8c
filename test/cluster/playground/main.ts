/** `npm run cluster:up`, `npm run cluster:down`: a Kubernetes control plane with Plimsoll in it, to play with. */
import { down } from './down.ts';
import { keep } from './keep.ts';
import { up } from './up.ts';

const USAGE_EXIT_CODE = 2;
const [command] = process.argv.slice(2);

try {
  if (command === 'keep') await keep();
  else if (command === 'up') console.log(await up());
  else if (command === 'down') console.log(await down());
  else {
    console.error('usage: npm run cluster:up, npm run cluster:down');
    process.exitCode = USAGE_EXIT_CODE;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
