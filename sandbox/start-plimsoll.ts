import type { KubeClient } from '#shared/kube/client/client.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { MUTATING_WEBHOOKS, NODE_PRESSURES, type Resource, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import { WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { followScheduler, type ReviewedPreemption, type SchedulerFollower } from './follow-scheduler.ts';
import { hasProcfs } from './node/processes/process-source.ts';
import type { SandboxComponent } from './options.ts';
import { type ComponentProcess, startComponent } from './start-component.ts';
import { NODE_NAME, type Sandbox, type SandboxPorts } from './start-sandbox.ts';

const READY_DEADLINE_MS = 45_000;
const POLL_MS = 50;
const HOST = '127.0.0.1';
/** A demo hog fills the node in seconds, so the agent polls more often than it needs to in a cluster. */
const LOOK_MS = 250;
const STATUS_MS = 2000;

export interface PlimsollPorts extends SandboxPorts {
  /** Gets what the scheduler process changes about preemptions. */
  readonly onReview: (review: ReviewedPreemption) => void;
}

/** Starts a part of Plimsoll as its own process; resolves when it is ready. `onStarted` is called at once. */
export async function startPlimsoll(
  component: SandboxComponent,
  sandbox: Sandbox,
  ports: PlimsollPorts,
  onStarted: (process: ComponentProcess) => void,
): Promise<ComponentProcess> {
  const scheduler = followScheduler(ports.onReview);
  const process = await startComponent({
    main: `${component}/main.ts`,
    flags: FLAGS[component](sandbox),
    environment: sandbox.environmentFor(component),
    clock: ports.clock,
    onLine: scheduler.onLine,
  });
  onStarted(process);
  const isReady = component === 'scheduler' ? () => hasExtender(sandbox, scheduler) : () => READY[component](sandbox);
  await waitUntilReady({ component, process, isReady }, ports);
  return process;
}

async function hasExtender(sandbox: Sandbox, { extenderUrl }: SchedulerFollower): Promise<boolean> {
  const url = await extenderUrl();
  if (url !== undefined) sandbox.useExtender(url);
  return url !== undefined;
}

const QUIET = ['--log-level=warn', '--log-format=text'];

const FLAGS: Readonly<Record<SandboxComponent, (sandbox: Sandbox) => readonly string[]>> = {
  webhook: () => [
    `--host=${HOST}`,
    '--port=0',
    `--health-host=${HOST}`,
    '--health-port=0',
    '--drain-seconds=0',
    '--registration-mode=Full',
    `--registration-url=https://${HOST}:0`,
    ...QUIET,
  ],
  agent: ({ node }) => [
    `--node-name=${NODE_NAME}`,
    '--mode=Policy',
    '--source=summary',
    `--kubelet-url=${node.url}`,
    '--warm-up-ms=1000',
    `--period-far-ms=${LOOK_MS}`,
    `--period-status-ms=${STATUS_MS}`,
    // The figures to compare with would be read from /proc.
    ...(hasProcfs() ? [] : ['--cross-check-enabled=false']),
    `--health-host=${HOST}`,
    '--health-port=0',
    ...QUIET,
  ],
  // Its log says where it listens and what it decided.
  scheduler: () => [
    `--host=${HOST}`,
    '--port=0',
    `--health-host=${HOST}`,
    '--health-port=0',
    '--drain-seconds=0',
    '--disruptions-record=On',
    '--queues-passes=On',
    '--log-level=info',
    '--log-format=json',
  ],
};

interface Starting {
  readonly component: SandboxComponent;
  readonly process: ComponentProcess;
  readonly isReady: () => Promise<boolean>;
}

async function waitUntilReady(
  { component, process, isReady }: Starting,
  { clock, shutdown }: SandboxPorts,
): Promise<void> {
  let end: string | undefined;
  void process.ended.then((how) => (end = how));
  const giveUpAt = clock.monotonic() + READY_DEADLINE_MS;
  while (!(await isReady())) {
    if (shutdown.signal.aborted) return;
    if (end !== undefined) throw failure(component, `it ended with ${end}`, process);
    if (clock.monotonic() > giveUpAt)
      throw failure(component, `not ready after ${READY_DEADLINE_MS / 1000} s`, process);
    await clock.sleep(POLL_MS, shutdown.signal);
  }
}

function failure(component: SandboxComponent, why: string, process: ComponentProcess): Error {
  const last = process.lastWords();
  return new Error(`cannot start the ${component}: ${why}${last === undefined ? '' : `: ${last}`}`);
}

const READY: Readonly<Record<Exclude<SandboxComponent, 'scheduler'>, (sandbox: Sandbox) => Promise<boolean>>> = {
  webhook: async ({ client }) => {
    const both = await Promise.all([MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].map((each) => isRegistered(client, each)));
    return both.every(Boolean);
  },
  agent: async ({ client }) => {
    const pressure = await getObject(client, { resource: NODE_PRESSURES, name: NODE_NAME });
    return pressure.kind === 'ok' && isRecord(pressure.object['status']);
  },
};

async function isRegistered(client: KubeClient, resource: Resource): Promise<boolean> {
  return (await getObject(client, { resource, name: WEBHOOK_CONFIGURATION })).kind === 'ok';
}
