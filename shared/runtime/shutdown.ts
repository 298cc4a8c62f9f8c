import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

export interface Shutdown {
  /** Aborts when the process has to end; everything long-lived listens to it. */
  readonly signal: AbortSignal;
  /** Registers a resource to release; releases run one by one, last registered first. */
  onRelease(name: string, release: () => Promise<void> | void): void;
  /** Starts the shutdown; a second call waits for the first. `exitCode` is 0 by default. */
  stop(reason: string, exitCode?: number): Promise<void>;
  /** The exit code, once everything is released or the deadline has passed. */
  readonly finished: Promise<number>;
}

export interface ShutdownOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Time limit for all releases together, in milliseconds; when it passes, the exit code is 1. */
  readonly deadlineMs: number;
  /** The source of SIGTERM and SIGINT: `process` by default. */
  readonly processSignals?: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
}

interface Release {
  readonly name: string;
  readonly run: () => Promise<void> | void;
}

const EXIT_BAD_CONFIGURATION = 2;

/** Ends the process before it has begun, with exit code 2 and a line on standard error for each mistake. */
export function refuseConfiguration(mistakes: readonly string[]): never {
  for (const mistake of mistakes) console.error(mistake);
  process.exit(EXIT_BAD_CONFIGURATION);
}

const END_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** One orderly shutdown per process: SIGTERM, SIGINT or `stop` → abort → releases in reverse order → exit code. */
export function createShutdown(options: ShutdownOptions): Shutdown {
  const { log, clock, deadlineMs, processSignals = process } = options;
  const controller = new AbortController();
  const releases: Release[] = [];
  const { promise: finished, resolve: finish } = Promise.withResolvers<number>();

  async function stop(reason: string, exitCode = 0): Promise<void> {
    if (controller.signal.aborted) return finished.then(() => undefined);
    log.info({ reason }, 'Stopping');
    controller.abort(new Error(`Stopping: ${reason}`));
    const released = await releaseAll(releases, { log, clock, deadlineMs });
    for (const name of END_SIGNALS) processSignals.off(name, onSignal);
    finish(released ? exitCode : 1);
  }
  const onSignal = (name: string): void => {
    // A second signal skips the drain.
    if (controller.signal.aborted) finish(1);
    else void stop(name);
  };
  for (const name of END_SIGNALS) processSignals.on(name, onSignal);

  return {
    signal: controller.signal,
    onRelease: (name, run) => void releases.push({ name, run }),
    stop,
    finished,
  };
}

/** True if every release ended without error before the deadline. */
async function releaseAll(
  releases: readonly Release[],
  { log, clock, deadlineMs }: Pick<ShutdownOptions, 'log' | 'clock' | 'deadlineMs'>,
): Promise<boolean> {
  const ended = new AbortController();
  const late = clock.sleep(deadlineMs, ended.signal).then(() => false);
  const all = releaseInReverse(releases, log);
  const inTime = await Promise.race([all, late]);
  ended.abort();
  if (!inTime) log.error({ deadlineMs }, 'Shutdown incomplete');
  return inTime;
}

async function releaseInReverse(releases: readonly Release[], log: Log): Promise<boolean> {
  let clean = true;
  for (const release of releases.toReversed()) {
    try {
      await release.run();
    } catch (error) {
      clean = false;
      log.error({ err: error, release: release.name }, 'Release failed');
    }
  }
  return clean;
}
