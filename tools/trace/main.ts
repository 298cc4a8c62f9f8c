/**
 * `npm run trace -- NAME`: prints the path of one review, one preemption or one pass of the agent through the code:
 * each file with the functions that are called. Without a name it lists the names.
 */
import { type CalledFunction, traceProcess } from './called-functions.ts';
import { type Scene, SCENES } from './scenes.ts';

const USAGE_EXIT_CODE = 2;
/** Functions called by a timer meanwhile are not called every time. */
const TIMES = 12;

const [name = ''] = process.argv.slice(2);
const open = SCENES[name];
if (open === undefined) {
  if (name !== '') console.error(`unknown trace "${name}"`);
  console.error(`usage: npm run --silent trace -- NAME, one of: ${Object.keys(SCENES).join(', ')}`);
  process.exitCode = USAGE_EXIT_CODE;
} else {
  const scene = await open();
  try {
    console.log(pageOf(name, await calledEachTime(scene)));
  } finally {
    await scene.stop();
  }
}

async function calledEachTime({ pid, prepare, work }: Scene): Promise<readonly CalledFunction[]> {
  const tracer = await traceProcess(pid);
  await work();
  let each: readonly CalledFunction[] | undefined;
  for (let time = 0; time < TIMES; time += 1) {
    await prepare?.();
    await tracer.called();
    await work();
    const now = await tracer.called();
    const keys = new Set(now.map(keyOf));
    each = each === undefined ? now : each.filter((called) => keys.has(keyOf(called)));
  }
  tracer.close();
  return each ?? [];
}

function keyOf({ file, name: called }: CalledFunction): string {
  return `${file} ${called}`;
}

function pageOf(traced: string, called: readonly CalledFunction[]): string {
  const byFile = Map.groupBy(called, ({ file }) => file);
  const files = [...byFile].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = files.map(([file, all]) => `- \`${file}\`: ${namesOf(all)}`);
  return [`# ${traced}: ${files.length} files, ${called.length} functions`, '', ...lines].join('\n');
}

function namesOf(called: readonly CalledFunction[]): string {
  const names = called.map(({ name: each }) => each).filter((each) => each !== '');
  return names.length === 0 ? 'closures' : [...new Set(names)].join(', ');
}
