import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { builtManifests } from '#test/cluster/installed/support/built-manifests.ts';
import { type Account, accountToken } from '#test/cluster/support/accounts.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import { at, textAt } from '#test/contract/harness.ts';
import type { BuiltImage } from './build-image.ts';
import { type InImage, processesIn } from './process-in-image.ts';

const LIVES_AND_IS_READY = ['/livez', '/readyz'];
/**
 * Each workload, the overlay that has it, and the flags whose ports would clash, as all are on one machine here. An agent
 * is ready on a node with a kubelet only, where node/node-suite.ts runs it.
 */
const WORKLOADS = [
  { name: 'plimsoll-webhook', overlay: 'base', ports: ['--port'], checks: LIVES_AND_IS_READY },
  { name: 'plimsoll-agent', overlay: 'base', ports: [], checks: ['/livez'] },
  { name: 'plimsoll-scheduler', overlay: 'overlays/second-scheduler', ports: ['--port'], checks: LIVES_AND_IS_READY },
  {
    name: 'plimsoll-controller',
    overlay: 'overlays/everything',
    ports: ['--port', '--dashboard-port'],
    checks: LIVES_AND_IS_READY,
  },
] as const;
const DOWNWARD = { NODE_NAME: 'node-1', NODE_IP: '127.0.0.1', POD_NAME: 'agent' };
const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
/** Must be refused by the file system, not for want of rights: everyone may write there. */
const WRITE = "require('node:fs').writeFileSync('/var/tmp/file', '')";

/** Every process of Plimsoll, started from the image with the commands and accounts of the manifests. */
export function imageProcesses(image: () => BuiltImage): void {
  const own = ownCluster();
  let start: InImage;
  const kubeconfig = (): string => own().cluster.kubeconfig;

  beforeAll(async () => {
    start = processesIn(image(), dirname(kubeconfig()));
    for (const overlay of new Set(WORKLOADS.map((each) => each.overlay))) {
      const args = ['apply', '--server-side', '--force-conflicts', '-k', join(DEPLOY, overlay)];
      expect(await kubectl(kubeconfig(), args)).toMatchObject({ status: 0 });
    }
  });

  test.each(WORKLOADS)('runs $name, which answers $checks', async ({ name, overlay, ports, checks }) => {
    const template = at(await workloadOf(kubeconfig(), name, overlay), 'spec.template.spec');
    const port = (await freePorts(1))[0] ?? 0;
    const args = at(template, 'containers.0.args') as readonly string[];
    const command = [
      ...(at(template, 'containers.0.command') as readonly string[]),
      ...onOtherPorts(args, ports, port),
    ];
    const { connection, admin } = own();
    const account: Account = { namespace: namespaceOf(name), name: textAt(template, 'serviceAccountName') };
    const token = await accountToken(admin, account);
    const mounted = { server: connection.server, ca: connection.ca ?? '', token, namespace: account.namespace };
    const { runAsUser, runAsGroup } = at(template, 'securityContext') as Readonly<Record<string, number>>;
    const user = `${runAsUser}:${runAsGroup}`;
    const variables = (at(template, 'containers.0.env') ?? []) as readonly {
      readonly name: string;
      readonly value?: string;
    }[];
    const given = variables.flatMap(({ name: key, value }) => (value === undefined ? [] : [[key, value] as const]));
    const environment = { ...Object.fromEntries(given), ...DOWNWARD };
    const container = start({ name, command: command.map(withVariables), environment, user }, mounted);
    container.start();
    const health = `http://127.0.0.1:${port}`;
    for (const path of checks) {
      await waitUntil(() => answersOk(health + path), { what: `${path} of ${name}`, components: [[name, container]] });
    }
    await container.stop('SIGKILL');
  });

  test('runs the command line', async () => {
    const cli = start({ name: 'cli', command: ['node', 'cli/main.ts', '--help'] });
    cli.start();
    await waitUntil(() => Promise.resolve(cli.hasEnded()), { what: 'plimsoll --help', components: [] });
    expect(cli.lastWords()).toContain('simulate');
  });

  test('cannot be written to, not even by its owner', async () => {
    const writer = start({ name: 'writer', command: ['node', '-e', WRITE] });
    writer.start();
    await waitUntil(() => Promise.resolve(writer.hasEnded()), { what: 'the write', components: [] });
    expect(writer.lastWords()).toContain('EROFS');
  });
}

async function workloadOf(kubeconfig: string, name: string, overlay: string): Promise<unknown> {
  const manifests = await builtManifests(kubeconfig, overlay);
  return manifests.find(
    (object) => at(object, 'metadata.name') === name && at(object, 'spec.template.spec.containers') !== undefined,
  );
}

function namespaceOf(name: string): string {
  return name === 'plimsoll-agent' ? 'plimsoll-node' : 'plimsoll-system';
}

/** The health port is the one that is asked; the others may be any. */
function onOtherPorts(args: readonly string[], ports: readonly string[], health: number): readonly string[] {
  const kept = args.filter((arg) => !ports.some((flag) => arg.startsWith(`${flag}=`)));
  return [...kept, `--health-port=${health}`, ...ports.map((flag) => `${flag}=0`)];
}

/** As the kubelet does. */
function withVariables(arg: string): string {
  return arg.replaceAll(/\$\((?<name>\w+)\)/g, (_, name: string) => (DOWNWARD as Record<string, string>)[name] ?? '');
}

async function answersOk(url: string): Promise<boolean> {
  return await fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
