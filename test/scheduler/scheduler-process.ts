import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostPort } from '#shared/runtime/host-port.ts';
import { LOOPBACK } from '#test/build/loopback.ts';
import { component } from '#test/cluster/support/control-plane/component.ts';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';
import { textOf } from '#test/cluster/support/run/process-identity.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';

/** The scheduler process as it is shipped. */
export interface SchedulerProcess {
  /** What Prometheus would read. */
  metrics(): Promise<string>;
  /** What it has logged so far. */
  log(): string;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
  /** SIGKILL: it gives nothing back, such as a Lease. */
  kill(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../scheduler/main.ts', import.meta.url));
/** What it says when it listens. */
const STARTED = /"healthPort":(?<port>\d+)/;

/**
 * Starts it on loopback, without TLS, and waits until it has read the cluster. It ends with the run in whose folder the
 * kubeconfig is; its log is written there. Its wall clock differs by the offset, its environment by `env`. Rejects with its log when it ends
 * before.
 */
export async function startSchedulerProcess(
  kubeconfig: string,
  port: number,
  flags: readonly string[] = [],
  {
    clockOffsetMs = 0,
    env = {},
    main = MAIN,
  }: {
    readonly clockOffsetMs?: number | undefined;
    readonly env?: Readonly<Record<string, string>>;
    /** Of another version. */
    readonly main?: string;
  } = {},
): Promise<SchedulerProcess> {
  const folder = dirname(kubeconfig);
  const log = join(folder, `scheduler-${randomUUID()}.log`);
  const where = [`--kubeconfig=${kubeconfig}`, `--host=${LOOPBACK}`, `--port=${port}`];
  const shifted = clockOffsetMs === 0 ? [] : [shiftedClock(clockOffsetMs)];
  const args = [
    ...shifted,
    main,
    ...where,
    `--health-host=${LOOPBACK}`,
    '--health-port=0',
    '--drain-seconds=0',
    ...flags,
  ];
  const scheduler = component(process.execPath, args, log, { ...markedEnvironment(folder), ...env });
  const components = [['the scheduler process', scheduler]] as const;
  scheduler.start();
  const healthPort = () => STARTED.exec(textOf(log))?.groups?.['port'];
  const answer = (path: string) => fetch(`http://${hostPort(LOOPBACK, healthPort() ?? '')}${path}`);
  const isReady = async () => healthPort() !== undefined && (await answer('/readyz')).ok;
  await waitUntil(isReady, { what: 'the scheduler process to be ready', components });
  return {
    metrics: async () => (await answer('/metrics')).text(),
    log: () => textOf(log),
    stop: () => scheduler.stop('SIGTERM'),
    kill: () => scheduler.stop('SIGKILL'),
  };
}

/** The option of Node by which `Date.now` differs. */
function shiftedClock(offsetMs: number): string {
  const script = `const now = Date.now; Date.now = () => now() + ${offsetMs};`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}
