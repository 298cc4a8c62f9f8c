/** `npm start`: a small Kubernetes on this machine with Plimsoll in it, and a demo that shows what it does. */
import { EventEmitter } from 'node:events';
import { enableCompileCache } from 'node:module';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { COMPILE_CACHE } from './compile-cache.ts';
import { createNarrator } from './narrator.ts';
import { parseOptions, USAGE } from './options.ts';
import type { DemoResult } from './run-sandbox.ts';
import type { MakeDashboard } from './serve-dashboard.ts';

const SHUTDOWN_DEADLINE_MS = 10_000;
const EXIT_USAGE = 2;
const PARENT_CHECK_MS = 500;
const INTERRUPTED_START_MS = 2_000;

const parsed = parseOptions(process.argv.slice(2));
if (parsed.kind === 'help') {
  console.log(USAGE);
  process.exit(0);
}
if (parsed.kind === 'mistake') {
  console.error(parsed.message);
  process.exit(EXIT_USAGE);
}

// Imported only now, so that a mistyped flag is reported at once.
enableCompileCache(COMPILE_CACHE);
const [{ dashboardApp }, { createLiveObjects }, { admitAll }, { runSandbox }] = await Promise.all([
  import('#dashboard/app.ts'),
  import('#dashboard/live-objects.ts'),
  import('#dashboard/access/admit.ts'),
  import('./run-sandbox.ts'),
]);

const { options } = parsed;
const toStandardError = { write: (line: string) => void process.stderr.write(line) };
const log = createLog({ component: 'sandbox', level: 'error', format: 'text', destination: toStandardError });
// npm forwards Ctrl-C although the terminal has already sent it to the whole group: a second signal must not interrupt the shutdown.
const shutdown = createShutdown({ log, clock, deadlineMs: SHUTDOWN_DEADLINE_MS, processSignals: new EventEmitter() });
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void shutdown.stop(name));
// npm ends without passing SIGTERM on to what its shell started.
if (process.env['npm_lifecycle_event'] !== undefined) void stopWithParent(process.ppid);
process.stdout.on('error', () => void shutdown.stop('standard output is closed'));

const narrator = createNarrator(
  () => clock.monotonic(),
  (line) => void process.stdout.write(line),
);
/** On loopback and without a real cluster behind it, the page needs no sign-in. */
const makeDashboard: MakeDashboard = (client) => {
  const { sources, run } = createLiveObjects({ client, clock, log, random: Math.random });
  const parts = { sources, clock, log, signal: shutdown.signal, clusterName: 'sandbox' };
  return { handler: dashboardApp({ ...parts, admit: admitAll }), run };
};

let result: DemoResult | undefined;
// A start that a signal interrupts may wait for what is already gone: once everything is released it gets a moment more.
await Promise.race([run(), shutdown.finished.then(() => clock.sleep(INTERRUPTED_START_MS))]);
const exitCode = await shutdown.finished;
if (options.once && result !== undefined) console.log(result.line);
process.exit(exitCode);

async function stopWithParent(parent: number): Promise<void> {
  while (process.ppid === parent && !shutdown.signal.aborted) await clock.sleep(PARENT_CHECK_MS, shutdown.signal);
  await shutdown.stop('npm has ended');
}

async function run(): Promise<void> {
  try {
    result = await runSandbox(options, { clock, log, shutdown, narrator, makeDashboard });
    if (options.once) void shutdown.stop('the demo is over', result?.isGood === true ? 0 : 1);
  } catch (error) {
    if (!shutdown.signal.aborted) {
      console.error(errorText(error));
      void shutdown.stop('start failed', 1);
    }
  }
}
