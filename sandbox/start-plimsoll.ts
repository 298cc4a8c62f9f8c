import type { KubeClient } from '#shared/kube/client/client.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { MUTATING_WEBHOOKS, NODE_PRESSURES, type Resource, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import { WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import type { Component } from './options.ts';
import { type ComponentProcess, startComponent } from './start-component.ts';
import { NODE_NAME, type Sandbox, type SandboxPorts } from './start-sandbox.ts';

const READY_DEADLINE_MS = 45_000;
const POLL_MS = 50;
const HOST = '127.0.0.1';
/** A demo hog fills the node in seconds, so the agent looks more often than it needs to in a cluster. */
const LOOK_MS = 250;
const STATUS_MS = 2000;

/** Starts a part of Plimsoll as its own process; resolves when it does its work. `onStarted` is called at once. */
export async function startPlimsoll(
  component: Component,
  sandbox: Sandbox,
  ports: SandboxPorts,
  onStarted: (process: ComponentProcess) => void,
): Promise<ComponentProcess> {
  const process = await startComponent({
    main: `${component}/main.ts`,
    flags: [...FLAGS[component](sandbox), '--log-level=warn', '--log-format=text'],
    environment: sandbox.environmentFor(component),
    clock: ports.clock,
  });
  onStarted(process);
  await waitUntilReady(component, process, sandbox.client, ports);
  return process;
}

const FLAGS: Readonly<Record<Component, (sandbox: Sandbox) => readonly string[]>> = {
  webhook: () => [
    `--host=${HOST}`,
    '--port=0',
    `--health-host=${HOST}`,
    '--health-port=0',
    '--drain-seconds=0',
    '--registration-mode=Full',
    `--registration-url=https://${HOST}:0`,
  ],
  agent: ({ node }) => [
    `--node-name=${NODE_NAME}`,
    '--mode=Policy',
    '--source=summary',
    `--kubelet-url=${node.url}`,
    '--warm-up-ms=1000',
    `--period-far-ms=${LOOK_MS}`,
    `--period-status-ms=${STATUS_MS}`,
    `--health-host=${HOST}`,
    '--health-port=0',
  ],
};

async function waitUntilReady(
  component: Component,
  process: ComponentProcess,
  client: KubeClient,
  { clock, shutdown }: SandboxPorts,
): Promise<void> {
  let end: string | undefined;
  void process.ended.then((how) => (end = how));
  const giveUpAt = clock.monotonic() + READY_DEADLINE_MS;
  while (!(await isReady[component](client))) {
    if (shutdown.signal.aborted) return;
    if (end !== undefined) throw failure(component, `it ended with ${end}`, process);
    if (clock.monotonic() > giveUpAt)
      throw failure(component, `not ready after ${READY_DEADLINE_MS / 1000} s`, process);
    await clock.sleep(POLL_MS, shutdown.signal);
  }
}

function failure(component: Component, why: string, process: ComponentProcess): Error {
  const last = process.lastWords();
  return new Error(`cannot start the ${component}: ${why}${last === undefined ? '' : `: ${last}`}`);
}

const isReady: Readonly<Record<Component, (client: KubeClient) => Promise<boolean>>> = {
  webhook: async (client) => {
    const both = await Promise.all([MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].map((each) => isRegistered(client, each)));
    return both.every(Boolean);
  },
  agent: async (client) => {
    const pressure = await getObject(client, { resource: NODE_PRESSURES, name: NODE_NAME });
    return pressure.kind === 'ok' && isRecord(pressure.object['status']);
  },
};

async function isRegistered(client: KubeClient, resource: Resource): Promise<boolean> {
  return (await getObject(client, { resource, name: WEBHOOK_CONFIGURATION })).kind === 'ok';
}
