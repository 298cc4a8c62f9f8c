import { expect } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { eventually } from '#test/build/waiting.ts';
import { helm } from '#test/cluster/installed/support/helm.ts';
import { runKubectl } from '#test/cluster/installed/support/run-kubectl.ts';
import { call } from '#test/cluster/node/kube-calls.ts';
import type { NodeOfOurs } from '#test/cluster/node/start/start-node-of.ts';
import { at, textAt } from '#test/contract/harness.ts';

const CHART = `${writtenManifests()}chart/`;
const RELEASE = ['plimsoll', '--namespace', 'plimsoll-system'];
/** All but the second scheduler, for which there is no image of kube-scheduler here. */
const PARTS = [
  'nodeController',
  'dashboard',
  'disruptions',
  'queues',
  'rescheduling',
  'controlPlaneExtender',
  'flowSchema',
  'networkPolicies',
];
/** Two of the webhook, two of the controller, the extender and the agent of the node. */
export const OWN_PODS = 6;
const NAMESPACES = ['plimsoll-system', 'plimsoll-node'];
const READY_MS = 180_000;

export type OwnPod = readonly [name: string, isReady: unknown, restarts: unknown];

/** The chart on a node, and what it runs there. */
export function releaseOnNode(node: () => Pick<NodeOfOurs, 'kubeconfig' | 'agentFlags'>, client: () => KubeClient) {
  const get = (path: string): Promise<unknown> => call(client(), { path });
  const kubectl = (...args: readonly string[]): Promise<string> => runKubectl(node().kubeconfig, args);

  /** Of every part, switched on or off, and what the agent needs on this node. */
  function values(areOn = true): readonly string[] {
    const flags = [`agent.extraArgs={${node().agentFlags.join(',')}}`];
    return [...PARTS.map((part) => `${part}.enabled=${areOn}`), ...flags].flatMap((value) => ['--set', value]);
  }

  const install = (): Promise<void> => run('install', CHART, '--create-namespace', ...values());
  const upgrade = (areOn: boolean, ...more: readonly string[]): Promise<void> =>
    run('upgrade', CHART, ...values(areOn), ...more);

  async function run(verb: 'install' | 'upgrade' | 'rollback' | 'uninstall', ...flags: readonly string[]) {
    expect(await helm([verb, ...RELEASE, ...flags, '--kubeconfig', node().kubeconfig])).toMatchObject({ status: 0 });
  }

  async function ownPods(): Promise<readonly OwnPod[]> {
    const lists = await Promise.all(
      NAMESPACES.map(async (name) => at(await get(`/api/v1/namespaces/${name}/pods`), 'items') as readonly object[]),
    );
    return lists
      .flat()
      .filter((pod) => at(pod, 'metadata.deletionTimestamp') === undefined)
      .map((pod) => {
        const container = at(pod, 'status.containerStatuses.0');
        return [textAt(pod, 'metadata.name'), at(container, 'ready'), at(container, 'restartCount')];
      });
  }

  async function expectAllReady(): Promise<void> {
    await eventually(async () => {
      const pods = await ownPods();
      expect(pods.length).toBeGreaterThanOrEqual(OWN_PODS);
      expect(pods.filter(([, isReady]) => isReady !== true)).toEqual([]);
    }, READY_MS);
  }

  /** `REASON REPORTER KIND` of each Event in our name. */
  async function ownEvents(): Promise<readonly string[]> {
    const items = at(await get('/api/v1/events'), 'items') as readonly object[];
    const ours = items.filter((each) => String(at(each, 'reportingComponent')).startsWith('plimsoll.dev/'));
    return ours.map((each) =>
      ['reason', 'reportingComponent', 'involvedObject.kind'].map((path) => textAt(each, path)).join(' '),
    );
  }

  /** Lines of our processes that warn, each message once. */
  async function warnings(): Promise<readonly string[]> {
    const pods = await ownPods();
    const logs = await Promise.all(
      pods.map(([name]) => {
        const isOfNode = /^plimsoll-(?:agent|control-plane-extender)-/.test(name);
        return kubectl('logs', '-n', isOfNode ? 'plimsoll-node' : 'plimsoll-system', name);
      }),
    );
    const lines = logs.flatMap((log, index) =>
      log
        .split('\n')
        .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))
        .map((line) => `${pods[index]?.[0].replace(/-[a-z0-9]+(?:-[a-z0-9]+)?$/, '') ?? ''}: ${line}`),
    );
    return [...new Set(lines)];
  }

  return { get, kubectl, install, upgrade, run, ownPods, expectAllReady, ownEvents, warnings };
}
