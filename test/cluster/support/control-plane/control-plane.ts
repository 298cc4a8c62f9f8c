import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { hostPort } from '#shared/runtime/host-port.ts';
import { LOOPBACK } from '#test/build/loopback.ts';
import { COMPONENTS, type ComponentName } from './binaries.ts';
import { component, type Component } from './component.ts';
import {
  type Address,
  apiServerFlags,
  AUDIT_POLICY,
  controllerManagerFlags,
  etcdFlags,
  type Layout,
  schedulerFlags,
} from './control-plane-flags.ts';
import { type Credentials, writeCredentials } from './credentials.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import { testClient } from './test-client.ts';

export interface ControlPlaneOptions {
  /** An empty run folder; everything is written there, and every process carries its mark. */
  readonly folder: string;
  readonly paths: Readonly<Record<ComponentName, string>>;
  /** Fields of the KubeSchedulerConfiguration, for instance extenders. */
  readonly schedulerConfiguration?: object;
  /** In addition to those of every control plane; the feature gates are the scheduler's, too. */
  readonly apiServerFlags?: readonly string[];
  /** Where the API server listens, unless on a free port of loopback. */
  readonly apiServer?: Address;
}

/** etcd, API server with RBAC, controllers and scheduler, on loopback. */
export interface ControlPlane {
  readonly kubeconfig: string;
  readonly auditLog: string;
  readonly credentials: Credentials;
  readonly components: ReadonlyMap<string, Component>;
  /** Ends all of it at once; the data is thrown away anyway. */
  stop(): Promise<void>;
}

const FLAGS: Readonly<Record<ComponentName, (layout: Layout) => readonly string[]>> = {
  etcd: etcdFlags,
  'kube-apiserver': apiServerFlags,
  'kube-controller-manager': controllerManagerFlags,
  'kube-scheduler': schedulerFlags,
};

/** Starts a control plane and waits until pods can be created. Rejects with the log of what did not come up. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const layout = await layOut(options);
  const { folder, paths, apiServerFlags: more = [] } = options;
  const moreOf: Partial<Record<ComponentName, readonly string[]>> = {
    'kube-apiserver': more,
    'kube-scheduler': more.filter((flag) => flag.startsWith('--feature-gates=')),
  };
  const flagsOf = (name: ComponentName): readonly string[] => [...FLAGS[name](layout), ...(moreOf[name] ?? [])];
  const env = markedEnvironment(folder);
  const components = new Map(
    COMPONENTS.map((name) => [name, component(paths[name], flagsOf(name), join(folder, `${name}.log`), env)]),
  );
  const plane: ControlPlane = {
    kubeconfig: layout.credentials.kubeconfig('admin'),
    auditLog: join(folder, 'audit.log'),
    credentials: layout.credentials,
    components,
    stop: async () => {
      await Promise.all([...components.values()].map((it) => it.stop('SIGKILL')));
    },
  };
  await startAll(plane).catch(async (error: unknown) => {
    await plane.stop();
    throw error;
  });
  return plane;
}

/** Everything the programs read, in files. */
async function layOut({ folder, schedulerConfiguration, ...options }: ControlPlaneOptions): Promise<Layout> {
  const [etcd = 0, etcdPeer = 0, port = 0, controllerManager = 0, scheduler = 0] = await freePorts(5);
  const apiServer = options.apiServer ?? { host: LOOPBACK, port };
  const credentials = writeCredentials(folder, `https://${hostPort(apiServer.host, apiServer.port)}`);
  mkdirSync(join(folder, 'generated'));
  writeFileSync(join(folder, 'audit-policy.json'), JSON.stringify(AUDIT_POLICY));
  const configuration = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    ...schedulerConfiguration,
    leaderElection: { leaderElect: false },
    clientConnection: { kubeconfig: credentials.kubeconfig('kube-scheduler'), qps: 500, burst: 1_000 },
  };
  writeFileSync(join(folder, 'scheduler.json'), JSON.stringify(configuration));
  return { folder, credentials, apiServer, ports: { etcd, etcdPeer, controllerManager, scheduler } };
}

async function startAll({ components, kubeconfig }: ControlPlane): Promise<void> {
  const client = await testClient(kubeconfig);
  try {
    components.get('etcd')?.start();
    components.get('kube-apiserver')?.start();
    await answers(client, '/readyz', components);
    components.get('kube-controller-manager')?.start();
    components.get('kube-scheduler')?.start();
    // Pods are refused until the controllers have made this account.
    await answers(client, '/api/v1/namespaces/default/serviceaccounts/default', components);
  } finally {
    client.close();
  }
}

function answers(client: KubeClient, path: string, components: ControlPlane['components']): Promise<void> {
  return waitUntil(() => isAnswered(client, path), { what: path, components });
}

/** `/readyz` says 200 in plain text, which is no JSON. */
async function isAnswered(client: KubeClient, path: string): Promise<boolean> {
  const outcome = await client.request({ path, timeoutMs: 5_000 });
  return outcome.kind === 'ok' || outcome.status === 200;
}
